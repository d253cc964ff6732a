#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.h"
#include "core/safetensors.h"
#include "support/places.h"
#include "support/temporary_directory.h"
#include "worker/verify_request.h"

namespace mneme::worker {
namespace {

const Path kGolden = Path(source_directory()) / "tests" / "golden";

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(kGolden))
    if (file.path().extension() == ".safetensors") names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, Holds) {
  const Verification result = verify_case(kGolden / (GetParam() + ".safetensors"), 1e-4);
  EXPECT_TRUE(result.ok) << result.message;
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, ::testing::ValuesIn(golden_names()), test_name);

// A copy of a case in which one number is changed must be rejected, whichever tensor it is in.
TEST(GoldenFaults, ADeviationInAnyTensorIsFound) {
  const testing::TemporaryDirectory directory;
  const Safetensors original = Safetensors::load(kGolden / "attention-plain-h1.safetensors");
  int checked = 0;
  for (const auto& [name, view] : original.tensors()) {
    if (name.starts_with("buffer.") || name == "grad_output") continue;
    auto tensors = original.tensors();
    std::vector<float> values(view.bytes.size() / sizeof(float));
    std::memcpy(values.data(), view.bytes.data(), view.bytes.size());
    float largest = 0;
    for (const float value : values) largest = std::max(largest, std::abs(value));
    values.back() += std::max(0.01F * largest, 0.01F);
    tensors[name].bytes = std::as_bytes(std::span(values));
    save_safetensors(directory / "case.safetensors", tensors, original.metadata());
    EXPECT_FALSE(verify_case(directory / "case.safetensors", 1e-4).ok) << name;
    ++checked;
  }
  EXPECT_GE(checked, 10);
}

TEST(GoldenFaults, ATensorOfTheCaseThatWeDoNotHaveIsFound) {
  const testing::TemporaryDirectory directory;
  const Safetensors original = Safetensors::load(kGolden / "mlp-m1.safetensors");
  auto tensors = original.tensors();
  tensors["param.extra"] = tensors.at("param.fc1.bias");
  save_safetensors(directory / "case.safetensors", tensors, original.metadata());
  EXPECT_THROW(verify_case(directory / "case.safetensors", 1e-4), Error);
}

TEST(GoldenFaults, AnUnknownConfigKeyIsAnError) {
  const testing::TemporaryDirectory directory;
  const Safetensors original = Safetensors::load(kGolden / "mlp-m1.safetensors");
  auto metadata = original.metadata();
  metadata["config"] = R"({"hidden_mult": 1, "activation": "gelu", "d_model": 24, "hiden": 3})";
  save_safetensors(directory / "case.safetensors", original.tensors(), metadata);
  EXPECT_THROW(verify_case(directory / "case.safetensors", 1e-4), Error);
}

TEST(GoldenFaults, AnUnknownKeyOfAStackIsAnError) {
  const testing::TemporaryDirectory directory;
  const Safetensors original = Safetensors::load(kGolden / "backbone-att-identity-2l.safetensors");
  auto metadata = original.metadata();
  metadata["config"].insert(1, R"("layer_norm_eps": 0.1, )");
  save_safetensors(directory / "case.safetensors", original.tensors(), metadata);
  EXPECT_THROW(verify_case(directory / "case.safetensors", 1e-4), Error);
}

// A layer above the first cannot be computed without what the first one left.
TEST(GoldenFaults, ALaterLayerWithoutTheFirstOnesValuesIsAnError) {
  const testing::TemporaryDirectory directory;
  const Safetensors original = Safetensors::load(kGolden / "rwkv7-layer1.safetensors");
  auto tensors = original.tensors();
  tensors.erase("v_first");
  save_safetensors(directory / "case.safetensors", tensors, original.metadata());
  EXPECT_THROW(verify_case(directory / "case.safetensors", 1e-4), Error);
}

}  // namespace
}  // namespace mneme::worker
