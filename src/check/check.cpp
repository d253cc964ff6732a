#include "check/check.h"

namespace mneme::check {

const std::vector<Check>& mixer_checks() {
  static const std::vector<Check> list = {
      {"shape", "keeps batch and length, also at L = 1, odd L and L shorter than any convolution", check_shape},
      {"causality", "a token changes no bit of the outputs before it, unless the options look ahead", check_causality},
      {"order", "whether the order of earlier tokens matters is as declared", check_order},
      {"gradient", "the composed path's gradients are derivatives, in double precision", check_gradient},
      {"kernels", "kernels and composed operations agree in outputs and every gradient", check_kernels},
      {"step", "token by token gives the same as the whole sequence", check_step},
      {"state", "a step carries as many numbers as the catalog declares", check_state},
      {"parameters", "there are as many parameters as the catalog's formula says", check_parameters},
      {"file", "parameters survive a safetensors file, and the outputs with them, to the bit", check_file},
      {"memory", "tensors of forward and backward grow no faster than the length", check_memory},
  };
  return list;
}

const Check& cost_check() {
  static const Check check = {"cost", "time grows as declared: linearly if the state does not grow", check_cost};
  return check;
}

Finding run_check(const Check& check, const Subject& subject) {
  try {
    return check.examine(subject);
  } catch (const c10::Error& error) {
    return {Finding::Verdict::failed, error.what_without_backtrace()};
  } catch (const std::exception& error) {
    return {Finding::Verdict::failed, error.what()};
  }
}

}  // namespace mneme::check
