#include "bench/runner.h"

namespace libkernels::bench {

Record record_of(const Case& c, const std::string& role, const std::string& kernel,
                 const std::string& mode) {
  Record record;
  record.op = c.op;
  record.role = role;
  record.kernel = kernel;
  record.types = c.types;
  record.form = c.form;
  record.shape = c.shape;
  record.elements = elements(c);
  record.variant = c.layout;
  record.floor_bytes = c.floor.bytes();
  record.flops = c.flops;
  record.mode = mode;
  return record;
}

void verify_way(Problem& problem, const Way& way, Workplace& place, Record* record) {
  const Verdict verdict = problem.judge(way, place);
  record->error_ulp = verdict.ulp;
  record->error_fraction = verdict.fraction;
  record->note = verdict.fault;
  record->failed = !verdict.fault.empty();
}

}  // namespace libkernels::bench
