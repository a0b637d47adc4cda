// The table of what the emulator counted.
#include <fmt/format.h>

#include "bench/model.h"
#include "bench/report.h"
#include "bench/table.h"

namespace libkernels::bench {
namespace {

constexpr const char* kCountedLegend =
    R"(Counted on the CPU emulator, modelled from data sheets. No time in this table was measured.
read, written  bytes that the lanes asked for, each time they asked
x floor        the same, over the least there can be: each input once, each output once
x flops        FLOPs of the tensor cores, over 2 M N K
s/rd, s/wr     32-byte sectors of a warp's request, on average: 16 where each lane moves 16 bytes
conflicts      passes of the shared-memory banks beyond the least possible
CTA/SM, occ    CTAs an SM holds, and the part of its warp slots they fill; a range where only a
               limit of the registers is known
waves          how often the emulated device has to be filled, over all launches of the call
err ulp, err/bound  as measured on the emulator, whose approximations are rounded correctly
x unfused      bytes of the unfused chain / bytes
model A100 ... microseconds: the counted bytes at the data sheet's 2.0, 3.35, 4.8, 8.0 TB/s
)";

// Columns of the counted table between the row's name and the modelled times.
constexpr int kCountedFigures = 15;

// "8", or "2..16" where the number of registers is only known to have a limit.
std::string range(double low, double high) {
  if (cell(low, 0) == cell(high, 0)) return cell(low, 0);
  return fmt::format("{}..{}", cell(low, 0), cell(high, 0));
}

std::optional<double> modelled(const Counted& c, const std::string& gpu) {
  for (const auto& [name, us] : c.modelled_us) {
    if (name == gpu) return us;
  }
  return std::nullopt;
}

// The tensor cores' FLOPs over the product's own: above 1 where tiles reach beyond the matrix.
std::string mma_cell(const Record& r) {
  if (!r.counted || !(r.counted->mma_flops > 0) || !(r.flops > 0)) return "-";
  return cell(r.counted->mma_flops / r.flops, 2);
}

std::vector<std::string> counted_row(const Record& r) {
  std::vector<std::string> row{r.kernel, r.types, r.form, shape_cell(r)};
  if (!r.counted) {
    row.insert(row.end(), kCountedFigures + datasheets().size(), "-");
    row.push_back(r.note);
    return row;
  }
  const Counted& c = *r.counted;
  const double bytes = double(c.bytes_read + c.bytes_written);
  const std::optional<double> floors =
      r.floor_bytes > 0 ? std::optional(bytes / double(r.floor_bytes)) : std::nullopt;
  row.insert(row.end(),
             {c.device, fmt::format("{}", r.launches), fmt::format("{}", c.bytes_read),
              fmt::format("{}", c.bytes_written), cell(floors, 2), mma_cell(r),
              cell(c.read_sectors_per_request, 2), cell(c.write_sectors_per_request, 2),
              fmt::format("{}", c.bank_conflicts), range(c.ctas_per_sm, c.ctas_per_sm_most),
              range(100 * c.occupancy, 100 * c.occupancy_most) + "%",
              range(double(c.waves_least), double(c.waves)), cell_short(r.error_ulp),
              cell_short(r.error_fraction), cell(r.speedup_unfused, 2)});
  for (const Datasheet& gpu : datasheets()) row.push_back(cell(modelled(c, gpu.name), 3));
  row.push_back(r.note);
  return row;
}

}  // namespace

std::string counted_table(const Report& report) {
  std::vector<std::string> head{"kernel",   "type",    "form",      "shape",    "device",
                                "launches", "read",    "written",   "x floor",  "x flops",
                                "s/rd",     "s/wr",    "conflicts", "CTA/SM",   "occ",
                                "waves",    "err ulp", "err/bound", "x unfused"};
  for (const Datasheet& gpu : datasheets()) head.push_back(fmt::format("model {}", gpu.name));
  head.push_back("");
  const std::vector<Row> rows = rows_of(report, true, head, &counted_row);
  return rows.empty() ? "" : align(rows) + '\n' + kCountedLegend;
}

}  // namespace libkernels::bench
