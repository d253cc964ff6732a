#include <iterator>

#include "tasks/ar.h"
#include "tasks/bits.h"
#include "tasks/chomsky.h"
#include "tasks/compositional_mqar.h"
#include "tasks/copy.h"
#include "tasks/copying.h"
#include "tasks/counting.h"
#include "tasks/forgetting_mqar.h"
#include "tasks/induction.h"
#include "tasks/mqar.h"
#include "tasks/selective_copying.h"
#include "tasks/state_tracking.h"
#include "tasks/task.h"
#include "tasks/vocab_majority.h"

namespace mneme::tasks {

const std::vector<TaskEntry>& task_list() {
  static const std::vector<TaskEntry> list = [] {
    std::vector<TaskEntry> entries = {
        mqar_entry(),
        forgetting_mqar_entry(),
        compositional_mqar_entry(),
        ar_entry(),
        induction_entry(),
        copy_entry(),
        copying_entry(),
        denoising_entry(),
        selective_copying_entry(),
        state_tracking_entry(),
        counting_entry(),
        parity_entry(),
        majority_entry(),
        cumulative_parity_entry(),
        cumulative_majority_entry(),
        vocab_majority_entry(),
    };
    for (auto family :
         {chomsky_regular_entries(), chomsky_string_entries(), chomsky_expression_entries(), chomsky_number_entries()})
      std::move(family.begin(), family.end(), std::back_inserter(entries));
    return entries;
  }();
  return list;
}

}  // namespace mneme::tasks
