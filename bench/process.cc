#include "bench/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>

namespace libkernels::bench {
namespace {

volatile sig_atomic_t g_interrupted = 0;
volatile sig_atomic_t g_second = 0;  // of the clock, when it came

// The second one ends the process, unless it comes with the first: timeout(1) and some shells send
// a signal to the process and to its group.
void note_interrupt(int) {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (g_interrupted != 0) {
    if (now.tv_sec > g_second + 1) _exit(kInterruptedExit);
    return;
  }
  g_second = sig_atomic_t(now.tv_sec);
  g_interrupted = 1;
  constexpr char kText[] =
      "\nlkbench: interrupted; what there is follows after this row (again: stop at once)\n";
  if (write(STDERR_FILENO, kText, sizeof(kText) - 1) < 0) return;
}

bool is_open(int descriptor) { return fcntl(descriptor, F_GETFD) != -1; }

// Otherwise the next file would take its number, and messages would land in that file.
void open_null_as(int descriptor) {
  if (is_open(descriptor)) return;
  const int null = open("/dev/null", O_RDWR);
  if (null >= 0 && null != descriptor) {
    dup2(null, descriptor);
    close(null);
  }
}

}  // namespace

void prepare_process() {
  if (!is_open(STDOUT_FILENO)) throw std::runtime_error("standard output is closed");
  open_null_as(STDIN_FILENO);
  open_null_as(STDERR_FILENO);
  signal(SIGPIPE, SIG_IGN);
  struct sigaction before = {};
  sigaction(SIGINT, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = note_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return g_interrupted != 0; }

void flush_output() {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::cout.good() && std::ferror(stdout) == 0) return;
  throw std::runtime_error(fmt::format("cannot write to standard output{}{}",
                                       errno != 0 ? ": " : "",
                                       errno != 0 ? std::strerror(errno) : ""));
}

std::string why_not_writable(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return std::strerror(EISDIR);
    return access(path.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
  }
  // Only an attempt tells; the file is gone again until there is something to write.
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (file < 0) return std::strerror(errno);
  close(file);
  unlink(path.c_str());
  return "";
}

void write_file(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  int error = file == nullptr ? errno : 0;
  if (file != nullptr) {
    if (std::fwrite(text.data(), 1, text.size(), file) != text.size()) error = errno;
    if (std::fclose(file) != 0 && error == 0) error = errno;
  }
  if (error == 0) return;
  throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

}  // namespace libkernels::bench
