// Names of functions from the symbol tables of the running program, for the texts of faults. The
// dynamic symbols that dladdr knows are not enough: kernels are rarely exported.
#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "kernels/ptx/emu/state.h"

namespace libkernels::emulator {
namespace {

struct Symbol {
  std::string name;
  std::uintptr_t offset = 0;
};

// A file, mapped for reading.
class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    struct stat status;
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
      bytes_ = std::size_t(status.st_size);
      void* p = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, fd, 0);
      data_ = p == MAP_FAILED ? nullptr : static_cast<const char*>(p);
    }
    close(fd);
  }
  ~MappedFile() {
    if (data_) munmap(const_cast<char*>(data_), bytes_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // `count` objects at `offset`; null if the file does not hold them.
  template <class T>
  const T* at(std::size_t offset, std::size_t count = 1) const {
    if (!data_ || offset > bytes_ || count * sizeof(T) > bytes_ - offset) return nullptr;
    return reinterpret_cast<const T*>(data_ + offset);
  }

 private:
  const char* data_ = nullptr;
  std::size_t bytes_ = 0;
};

using Header = ElfW(Ehdr);
using Section = ElfW(Shdr);
using Entry = ElfW(Sym);

// The function of this symbol table that holds the address.
bool search(const MappedFile& file, const Section& symbols, const Section& strings,
            std::uintptr_t address, Symbol* out) {
  const std::size_t count = symbols.sh_size / sizeof(Entry);
  const Entry* entries = file.at<Entry>(symbols.sh_offset, count);
  const char* names = file.at<char>(strings.sh_offset, strings.sh_size);
  if (!entries || !names) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const Entry& e = entries[i];
    if (ELF64_ST_TYPE(e.st_info) != STT_FUNC || address - e.st_value >= e.st_size) continue;
    if (e.st_name >= strings.sh_size) continue;
    *out = {names + e.st_name, address - e.st_value};
    return true;
  }
  return false;
}

bool search_file(const char* path, std::uintptr_t address, Symbol* out) {
  const MappedFile file(path);
  const Header* header = file.at<Header>(0);
  if (!header) return false;
  const Section* sections = file.at<Section>(header->e_shoff, header->e_shnum);
  if (!sections) return false;
  for (int i = 0; i < header->e_shnum; ++i) {
    const Section& s = sections[i];
    const bool table = s.sh_type == SHT_SYMTAB || s.sh_type == SHT_DYNSYM;
    if (table && s.sh_link < header->e_shnum &&
        search(file, s, sections[s.sh_link], address, out)) {
      return true;
    }
  }
  return false;
}

struct Query {
  std::uintptr_t address;
  Symbol* out;
};

// dl_iterate_phdr's callback: searches the object that holds the address.
int visit(dl_phdr_info* info, std::size_t, void* data) {
  const auto* query = static_cast<const Query*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& h = info->dlpi_phdr[i];
    const std::uintptr_t offset = query->address - info->dlpi_addr;
    if (h.p_type != PT_LOAD || offset - h.p_vaddr >= h.p_memsz) continue;
    const bool program = !info->dlpi_name || !*info->dlpi_name;
    return search_file(program ? "/proc/self/exe" : info->dlpi_name, offset, query->out);
  }
  return 0;
}

Symbol find_symbol(const void* address) {
  Symbol symbol;
  Query query{reinterpret_cast<std::uintptr_t>(address), &symbol};
  dl_iterate_phdr(&visit, &query);
  if (char* plain = abi::__cxa_demangle(symbol.name.c_str(), nullptr, nullptr, nullptr)) {
    symbol.name = plain;
    std::free(plain);
  }
  return symbol;
}

// "void a::k<int>(a::Params)" -> "a::k<int>".
std::string without_signature(const std::string& name) {
  std::size_t begin = 0, end = name.size();
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool local = name.compare(i, 11, "(anonymous ") == 0;
    if (name[i] == '(' && depth == 0 && !local) {
      end = i;
      break;
    }
    if (name[i] == ' ' && depth == 0) begin = i + 1;
    if (name[i] == '<' || name[i] == '(' || name[i] == '{') ++depth;
    if (name[i] == '>' || name[i] == ')' || name[i] == '}') --depth;
  }
  return name.substr(begin, end - begin);
}

std::string hexadecimal(const void* address) {
  char text[32];
  std::snprintf(text, sizeof(text), "%p", address);
  return text;
}

}  // namespace

std::string name_kernel(const void* address) {
  const Symbol symbol = find_symbol(address);
  return symbol.name.empty() ? hexadecimal(address) : without_signature(symbol.name);
}

std::string name_pc(const void* pc) {
  const Symbol symbol = find_symbol(pc);
  if (symbol.name.empty()) return hexadecimal(pc);
  char offset[32];
  std::snprintf(offset, sizeof(offset), "+0x%zx", std::size_t(symbol.offset));
  return without_signature(symbol.name) + offset;
}

}  // namespace libkernels::emulator
