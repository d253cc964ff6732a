#include "worker/check_request.h"

#include "check/check.h"
#include "worker/events.h"
#include "worker/stop.h"

namespace mneme::worker {
namespace {

const char* word(check::Finding::Verdict verdict) {
  switch (verdict) {
    case check::Finding::Verdict::passed: return "passed";
    case check::Finding::Verdict::failed: return "failed";
    default: return "not_applicable";
  }
}

}  // namespace

void carry_out_check(const Json& request) {
  const check::Subject subject =
      check::Subject::of_list(request.at("mixer").get<std::string>(), request.value("options", Json::object()),
                              request.value("width", std::int64_t{16}));
  std::vector<check::Check> checks = check::mixer_checks();
  if (request.value("cost", true)) checks.push_back(check::cost_check());
  for (const check::Check& check : checks) {
    if (stop_requested()) return;
    const check::Finding finding = check::run_check(check, subject);
    send_event("checked", {{"check", check.name},
                           {"promise", check.promise},
                           {"verdict", word(finding.verdict)},
                           {"detail", finding.detail}});
  }
  send_event("finished");
}

}  // namespace mneme::worker
