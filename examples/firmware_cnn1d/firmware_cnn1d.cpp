// Learns on a microcontroller to tell wide pulses in noise from narrow ones, with the usual 1-D recipe: Conv1D, ReLU,
// MaxPool1D(2), Conv1D, ReLU, MaxPool1D(2), Dense; each pool halves the length. Prints the mean squared error.
// `make test-embedded` runs it on an emulated Cortex-M4 and on the host; both print the same.
#include "board/board.hpp"
#include "network.hpp"

#include <bit>

namespace {

using namespace ndpool::tiny;
using ndpool::Index;

constexpr Index samples = 16, length = 32, steps = 300;
constexpr float rate = 0.1F;

// Padding keeps the length of a convolution; every shape follows from the layer before.
using Conv1 = Conv1D<Shape<samples, 1, length>, 4, Window<Kernel<5>, Padding<2>>, training>;
using Pool1 = MaxPool1D<Conv1::OutputShape, 2, -1, training>;
using Conv2 = Conv1D<Pool1::OutputShape, 8, Window<Kernel<3>, Padding<1>>, training>;
using Pool2 = MaxPool1D<Conv2::OutputShape, 2, -1, training>;
using Head = network::Dense<samples, Pool2::OutputShape::count / samples>;

/// Pulses of 4 or of 10 cells at random places; the network is to answer 0 or 1.
void make_signals(network::Random& random, Conv1::Input& x, float* wanted) {
  for (Index s = 0; s < samples; ++s) {
    const Index width = s % 2 == 0 ? 4 : 10;
    const Index first = static_cast<Index>((random.next() + 1) * 10);
    for (Index l = 0; l < length; ++l)
      x.data[s * length + l] = (l >= first && l < first + width ? 1.0F : 0.0F) + 0.25F * random.next();
    wanted[s] = s % 2 == 0 ? 0.0F : 1.0F;
  }
}

struct Network {
  network::Trained<Conv1> conv1;
  network::Trained<Conv2> conv2;
  Head head;
  Conv1::Output a1, g_a1;
  Pool1::Output p1, g_p1;
  Pool1::Memory winners1;
  Conv2::Output a2, g_a2;
  Pool2::Output p2, g_p2;
  Pool2::Memory winners2;
  float answer[samples], g_answer[samples];

  void randomise(network::Random& random) {
    network::randomise(conv1.parameters.weight, random, 0.4F);
    network::randomise(conv2.parameters.weight, random, 0.3F);
    network::randomise(head.weight, random, 0.1F);
  }

  void forward(const Conv1::Input& x) {
    conv1.forward(x, a1);
    network::relu(a1);
    Pool1::forward(a1, p1, winners1);
    conv2.forward(p1, a2);
    network::relu(a2);
    Pool2::forward(a2, p2, winners2);
    head.forward(p2.data, answer);
  }

  void backward(const Conv1::Input& x) {
    head.backward(p2.data, g_answer, g_p2.data);
    Pool2::backward(winners2, g_p2, g_a2);
    network::relu_backward(a2, g_a2);
    conv2.backward(p1, g_a2, g_p1);
    Pool1::backward(winners1, g_p1, g_a1);
    network::relu_backward(a1, g_a1);
    Conv1::backward_parameters(x, g_a1, conv1.gradient);  // nobody needs the gradient of the signals
  }

  /// One step down the gradient of the mean squared error, which is returned.
  float learn(const Conv1::Input& x, const float* wanted) {
    forward(x);
    float loss = 0;
    for (Index s = 0; s < samples; ++s) {
      const float difference = answer[s] - wanted[s];
      loss += difference * difference / samples;
      g_answer[s] = 2 * difference / samples;
    }
    backward(x);
    conv1.learn(rate);
    conv2.learn(rate);
    head.learn(rate);
    return loss;
  }
};

void print(std::uint32_t number, std::uint32_t base, int digits) {
  char text[12] = {};
  for (int d = digits - 1; d >= 0; --d, number /= base) text[d] = "0123456789abcdef"[number % base];
  board::write(text);
}

/// The step, the bits of the loss, and its decimals.
void report(Index step, float loss) {
  board::write("step ");
  print(static_cast<std::uint32_t>(step), 10, 3);
  board::write("  bits ");
  print(std::bit_cast<std::uint32_t>(loss), 16, 8);
  board::write("  loss 0.");
  print(static_cast<std::uint32_t>(loss * 1000000.0F), 10, 6);
  board::write("\n");
}

Network net;
Conv1::Input x;
float wanted[samples];

}  // namespace

void program() {
  network::Random random;
  make_signals(random, x, wanted);
  net.randomise(random);
  for (Index step = 0; step <= steps; ++step) {
    const float loss = net.learn(x, wanted);
    if (step % 25 == 0) report(step, loss);
  }
}
