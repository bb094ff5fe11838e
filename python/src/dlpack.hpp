// The parts of DLPack that are read here; the layout is fixed by https://dmlc.github.io/dlpack.
#pragma once

#include <cstdint>

namespace ndpool::python::dlpack {

struct Device {
  std::int32_t type;
  std::int32_t id;
};
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
enum Code : std::uint8_t { signed_integer = 0, unsigned_integer = 1, real = 2, brain_real = 4, boolean = 6 };
enum DeviceType : std::int32_t { cpu = 1, cuda_host = 3, rocm_host = 11 };

struct Tensor {
  void* data;
  Device device;
  std::int32_t rank;
  DataType type;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: packed
  std::uint64_t byte_offset;
};

struct Managed {
  Tensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};
struct ManagedVersioned {
  Version version;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Tensor tensor;
};
inline constexpr std::uint64_t read_only = 1;

/// The functions that a library offers for arrays of one of its types, without a call into Python.
struct ExchangeHeader {
  Version version;
  ExchangeHeader* previous;
};
struct Exchange {
  ExchangeHeader header;
  void* allocate;
  void* managed_from_object;
  void* managed_to_object;
  int (*tensor_from_object)(void* object, Tensor* tensor);
  void* current_stream;
};

}  // namespace ndpool::python::dlpack
