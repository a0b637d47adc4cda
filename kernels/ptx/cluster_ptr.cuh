// The address of an object in the shared memory of a CTA of the cluster. Included by ptx.cuh only.
#pragma once

namespace libkernels::inline LK_BACKEND::ptx {

// Made by mapa; a 32-bit address of the shared::cluster window. Not dereferenceable.
template <class T>
struct ClusterPtr {
  std::uint32_t address;

  LK_DEVICE ClusterPtr operator+(int elements) const {
    return {address + std::uint32_t(elements) * std::uint32_t(sizeof(T))};
  }
};

}  // namespace libkernels::inline LK_BACKEND::ptx
