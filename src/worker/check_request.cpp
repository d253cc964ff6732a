#include "worker/check_request.h"

#include "check/check.h"
#include "worker/events.h"
#include "worker/stop.h"

namespace mneme {
namespace {

const char* word(Finding::Verdict verdict) {
  switch (verdict) {
    case Finding::Verdict::passed: return "passed";
    case Finding::Verdict::failed: return "failed";
    default: return "not_applicable";
  }
}

}  // namespace

void carry_out_check(const Json& request) {
  const Subject subject =
      Subject::of_list(request.at("mixer").get<std::string>(), request.value("options", Json::object()),
                       request.value("width", std::int64_t{16}));
  std::vector<Check> checks = mixer_checks();
  if (request.value("cost", true)) checks.push_back(cost_check());
  for (const Check& check : checks) {
    if (stop_requested()) return;
    const Finding finding = run_check(check, subject);
    send_event("checked", {{"check", check.name},
                           {"promise", check.promise},
                           {"verdict", word(finding.verdict)},
                           {"detail", finding.detail}});
  }
  send_event("finished");
}

}  // namespace mneme
