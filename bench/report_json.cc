// The report as a file; bench/schema.json describes it.
#include "bench/json.h"
#include "bench/report.h"

namespace libkernels::bench {
namespace {

void write_summary(JsonWriter& json, const char* key, const std::optional<Summary>& summary) {
  if (!summary) return;
  const Summary& s = *summary;
  json.key(key);
  json.begin_object();
  json.key("median").value(s.median);
  json.key("q1").value(s.q1);
  json.key("q3").value(s.q3);
  json.key("min").value(s.min);
  json.key("max").value(s.max);
  json.key("samples").value(std::uint64_t(s.samples));
  json.key("dropped").value(std::uint64_t(s.dropped));
  if (s.median_interval) {
    json.key("low").value(s.median_interval->low);
    json.key("high").value(s.median_interval->high);
  }
  json.end_object();
}

void write_optional(JsonWriter& json, const char* key, std::optional<double> v) {
  if (v) json.key(key).value(*v);
}

void write_counted(JsonWriter& json, const Counted& c) {
  json.key("counted").begin_object();
  json.key("device").value(c.device);
  json.key("bytes_read").value(c.bytes_read);
  json.key("bytes_written").value(c.bytes_written);
  if (c.mma_flops > 0) json.key("mma_flops").value(c.mma_flops);
  write_optional(json, "read_sectors_per_request", c.read_sectors_per_request);
  write_optional(json, "write_sectors_per_request", c.write_sectors_per_request);
  json.key("bank_conflicts").value(c.bank_conflicts);
  json.key("ctas").value(c.ctas);
  json.key("registers").value(c.registers);
  json.key("registers_exact").value(c.registers_exact);
  json.key("ctas_per_sm").value(c.ctas_per_sm);
  json.key("ctas_per_sm_most").value(c.ctas_per_sm_most);
  json.key("occupancy").value(c.occupancy);
  json.key("occupancy_most").value(c.occupancy_most);
  json.key("occupancy_limit").value(c.occupancy_limit);
  json.key("waves").value(c.waves);
  json.key("waves_least").value(c.waves_least);
  json.end_object();
  json.key("modelled_us").begin_object();
  for (const auto& [gpu, us] : c.modelled_us) json.key(gpu).value(us);
  json.end_object();
}

void write_gpu(JsonWriter& json, const GpuState& gpu) {
  json.key("gpu").begin_object();
  json.key("sm_mhz").value(std::uint64_t(gpu.sm_mhz));
  json.key("memory_mhz").value(std::uint64_t(gpu.memory_mhz));
  json.key("watts").value(gpu.watts);
  json.key("celsius").value(std::uint64_t(gpu.celsius));
  json.key("throttle_reasons").value(gpu.throttle_reasons);
  json.end_object();
}

void write_record(JsonWriter& json, const Record& r) {
  json.begin_object();
  json.key("op").value(r.op);
  json.key("role").value(r.role);
  json.key("kernel").value(r.kernel);
  json.key("types").value(r.types);
  json.key("form").value(r.form);
  json.key("shape").begin_array();
  for (const std::int64_t extent : r.shape) json.value(extent);
  json.end_array();
  json.key("elements").value(r.elements);
  json.key("variant").value(r.variant);
  json.key("floor_bytes").value(r.floor_bytes);
  if (r.flops > 0) json.key("flops").value(r.flops);
  json.key("launches").value(r.launches);
  json.key("mode").value(r.mode);
  if (!r.cache.empty()) json.key("cache").value(r.cache);
  write_summary(json, "us", r.us);
  if (r.converged) json.key("converged").value(*r.converged);
  write_summary(json, "isolated_us", r.isolated_us);
  write_summary(json, "burst_us", r.burst_us);
  write_summary(json, "sustained_us", r.sustained_us);
  write_optional(json, "gb_per_s", r.gb_per_s);
  write_optional(json, "tflops", r.tflops);
  if (!r.ceiling.empty()) json.key("ceiling").value(r.ceiling);
  if (!r.ceiling_kernel.empty()) json.key("ceiling_kernel").value(r.ceiling_kernel);
  write_optional(json, "ceiling_gb_per_s", r.ceiling_gb_per_s);
  write_optional(json, "ceiling_tflops", r.ceiling_tflops);
  write_optional(json, "ceiling_fraction", r.ceiling_fraction);
  write_optional(json, "speedup_unfused", r.speedup_unfused);
  write_optional(json, "speedup_naive", r.speedup_naive);
  if (!r.peer.empty()) json.key("peer").value(r.peer);
  write_optional(json, "speedup_peer", r.speedup_peer);
  if (r.versus) {
    json.key("versus").begin_object();
    json.key("role").value(r.versus->role);
    json.key("kernel").value(r.versus->kernel);
    write_summary(json, "ratio", r.versus->ratio);
    json.end_object();
  }
  write_optional(json, "microjoules", r.microjoules);
  if (!r.energy_from.empty()) json.key("energy_from").value(r.energy_from);
  write_optional(json, "error_ulp", r.error_ulp);
  write_optional(json, "error_fraction_of_bound", r.error_fraction);
  if (r.gpu) write_gpu(json, *r.gpu);
  if (r.counted) write_counted(json, *r.counted);
  json.key("note").value(r.note);
  json.key("failed").value(r.failed);
  json.end_object();
}

void write_ceiling(JsonWriter& json, const CeilingRecord& c) {
  json.begin_object();
  json.key("kind").value(c.kind);
  json.key("kernel").value(c.kernel);
  if (c.bytes > 0) json.key("bytes").value(c.bytes);
  if (c.flops > 0) json.key("flops").value(c.flops);
  write_summary(json, "us", c.us);
  json.key("per_s").value(c.per_s);
  if (c.datasheet_per_s > 0) json.key("datasheet_per_s").value(c.datasheet_per_s);
  json.key("best").value(c.best);
  if (c.gpu) write_gpu(json, *c.gpu);
  json.end_object();
}

}  // namespace

std::string to_json(const Report& report) {
  JsonWriter json;
  json.begin_object();
  json.key("schema").value(2);
  json.key("context").begin_object();
  for (const auto& [key, text] : report.context) json.key(key).value(text);
  json.end_object();
  json.key("records").begin_array();
  for (const Record& record : report.records) write_record(json, record);
  json.end_array();
  json.key("ceilings").begin_array();
  for (const CeilingRecord& c : report.ceilings) write_ceiling(json, c);
  json.end_array();
  json.end_object();
  return json.text() + '\n';
}

}  // namespace libkernels::bench
