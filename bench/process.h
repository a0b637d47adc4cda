// What lkbench and the process around it do to each other: Ctrl-C, standard output, files.
#pragma once

#include <string>

namespace libkernels::bench {

// Exit status after SIGINT, as shells say it.
inline constexpr int kInterruptedExit = 130;

// From here on the first SIGINT only makes interrupted() true; one that comes some seconds later
// ends the process. One that the caller ignores (nohup) stays ignored. A pipe that nobody reads
// becomes an error of the write. Throws runtime_error if standard output is closed.
void prepare_process();

// Whether to stop after the row that runs.
bool interrupted();

// Throws runtime_error, with the reason, unless all that was printed has reached standard output.
void flush_output();

// Why `path` cannot be written, "" if it can. Leaves an existing file as it is and makes none.
std::string why_not_writable(const std::string& path);

// Throws runtime_error with the path and the reason.
void write_file(const std::string& path, const std::string& text);

}  // namespace libkernels::bench
