// main() of every test program. Exits 77, which ctest shows as "Skipped", if every case that ran
// was skipped, and prints why cases were skipped, one line a reason. What the environment asks of
// libkernels and its emulator does not hold here: a case that is about it sets it in a child.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kAllSkipped = 77;  // SKIP_RETURN_CODE in tests/CMakeLists.txt

class SkipReasons : public testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.type() == testing::TestPartResult::kSkip) ++cases_[result.message()];
  }
  void OnTestProgramEnd(const testing::UnitTest&) override {
    for (const auto& [reason, count] : cases_) {
      std::string line = reason;
      for (char& c : line) c = c == '\n' ? ' ' : c;
      std::printf("skipped %d: %s\n", count, line.c_str());
    }
  }

 private:
  std::map<std::string, int> cases_;
};

// Before anything has read them: LIBKERNELS_..., LK_EMU_...
void forget_environment() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.rfind("LIBKERNELS_", 0) == 0 || text.rfind("LK_EMU_", 0) == 0) {
      names.emplace_back(text.substr(0, text.find('=')));
    }
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  forget_environment();
  try {
    testing::InitGoogleTest(&argc, argv);  // evaluates the generators of parameters
  } catch (const std::exception& error) {
    std::printf("%s: %s\n", argv[0], error.what());
    return 1;
  }
  testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  tests.listeners().Append(new SkipReasons);
  if (tests.total_test_count() == 0) {
    std::printf("this program holds no test case\n");
    return 1;
  }
  const int status = RUN_ALL_TESTS();
  if (status != 0) return status;
  const bool all_skipped =
      tests.test_to_run_count() > 0 && tests.skipped_test_count() == tests.test_to_run_count();
  return all_skipped ? kAllSkipped : 0;
}
