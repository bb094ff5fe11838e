// The layers of the tiny_pool notes as their description reads: sizes known at run time, one loop per axis, and a mask
// of floats that only training fills. What the tiny layers are measured against.
#pragma once

namespace loops {

struct Size1D {
  int batch, channels, length;
};

struct Pool1D {
  int kernel, stride;
  Size1D input;

  int outputs() const { return (input.length - kernel) / stride + 1; }
};

struct MaxPool1D : Pool1D {
  bool training = false;
  float* mask = nullptr;  ///< position of each maximum

  void forward(const float* x, float* y) const {
    const int out = outputs();
    for (int b = 0; b < input.batch; ++b)
      for (int c = 0; c < input.channels; ++c)
        for (int l = 0; l < out; ++l) {
          const int row = (b * input.channels + c) * input.length;
          float best = x[row + l * stride];
          int position = l * stride;
          for (int k = 1; k < kernel; ++k)
            if (x[row + l * stride + k] > best) {
              best = x[row + l * stride + k];
              position = l * stride + k;
            }
          y[(b * input.channels + c) * out + l] = best;
          if (training) mask[(b * input.channels + c) * out + l] = static_cast<float>(position);
        }
  }

  void backward(const float* grad_out, float* g) const {
    const int out = outputs();
    for (int i = 0; i < input.batch * input.channels * input.length; ++i) g[i] = 0;
    for (int b = 0; b < input.batch; ++b)
      for (int c = 0; c < input.channels; ++c)
        for (int l = 0; l < out; ++l) {
          const int at = (b * input.channels + c) * out + l;
          g[(b * input.channels + c) * input.length + static_cast<int>(mask[at])] += grad_out[at];
        }
  }
};

struct AvgPool1D : Pool1D {
  void forward(const float* x, float* y) const {
    const int out = outputs();
    for (int b = 0; b < input.batch; ++b)
      for (int c = 0; c < input.channels; ++c)
        for (int l = 0; l < out; ++l) {
          float sum = 0;
          for (int k = 0; k < kernel; ++k) sum += x[(b * input.channels + c) * input.length + l * stride + k];
          y[(b * input.channels + c) * out + l] = sum / static_cast<float>(kernel);
        }
  }

  void backward(const float* grad_out, float* g) const {
    const int out = outputs();
    for (int i = 0; i < input.batch * input.channels * input.length; ++i) g[i] = 0;
    for (int b = 0; b < input.batch; ++b)
      for (int c = 0; c < input.channels; ++c)
        for (int l = 0; l < out; ++l) {
          const float share = grad_out[(b * input.channels + c) * out + l] / static_cast<float>(kernel);
          for (int k = 0; k < kernel; ++k) g[(b * input.channels + c) * input.length + l * stride + k] += share;
        }
  }
};

struct Size2D {
  int batch, channels, height, width;
};

struct Pool2D {
  int kernel_height, kernel_width, stride_height, stride_width;
  Size2D input;

  int rows() const { return (input.height - kernel_height) / stride_height + 1; }
  int columns() const { return (input.width - kernel_width) / stride_width + 1; }
};

struct MaxPool2D : Pool2D {
  bool training = false;
  float* mask = nullptr;  ///< row and column of each maximum, one after the other

  void forward(const float* x, float* y) const {
    const int out_rows = rows(), out_columns = columns();
    for (int b = 0; b < input.batch; ++b)
      for (int c = 0; c < input.channels; ++c)
        for (int oh = 0; oh < out_rows; ++oh)
          for (int ow = 0; ow < out_columns; ++ow) {
            const float* plane = x + (b * input.channels + c) * input.height * input.width;
            int row = oh * stride_height, column = ow * stride_width;
            float best = plane[row * input.width + column];
            for (int kh = 0; kh < kernel_height; ++kh)
              for (int kw = 0; kw < kernel_width; ++kw) {
                const int ih = oh * stride_height + kh, iw = ow * stride_width + kw;
                if (plane[ih * input.width + iw] > best) {
                  best = plane[ih * input.width + iw];
                  row = ih;
                  column = iw;
                }
              }
            const int at = ((b * input.channels + c) * out_rows + oh) * out_columns + ow;
            y[at] = best;
            if (training) {
              mask[2 * at] = static_cast<float>(row);
              mask[2 * at + 1] = static_cast<float>(column);
            }
          }
  }

  void backward(const float* grad_out, float* g) const {
    const int out_rows = rows(), out_columns = columns();
    for (int i = 0; i < input.batch * input.channels * input.height * input.width; ++i) g[i] = 0;
    for (int b = 0; b < input.batch; ++b)
      for (int c = 0; c < input.channels; ++c)
        for (int oh = 0; oh < out_rows; ++oh)
          for (int ow = 0; ow < out_columns; ++ow) {
            const int at = ((b * input.channels + c) * out_rows + oh) * out_columns + ow;
            const int row = static_cast<int>(mask[2 * at]), column = static_cast<int>(mask[2 * at + 1]);
            g[((b * input.channels + c) * input.height + row) * input.width + column] += grad_out[at];
          }
  }
};

struct AvgPool2D : Pool2D {
  void forward(const float* x, float* y) const {
    const int out_rows = rows(), out_columns = columns();
    for (int b = 0; b < input.batch; ++b)
      for (int c = 0; c < input.channels; ++c)
        for (int oh = 0; oh < out_rows; ++oh)
          for (int ow = 0; ow < out_columns; ++ow) {
            const float* plane = x + (b * input.channels + c) * input.height * input.width;
            float sum = 0;
            for (int kh = 0; kh < kernel_height; ++kh)
              for (int kw = 0; kw < kernel_width; ++kw)
                sum += plane[(oh * stride_height + kh) * input.width + ow * stride_width + kw];
            y[((b * input.channels + c) * out_rows + oh) * out_columns + ow] =
                sum / static_cast<float>(kernel_height * kernel_width);
          }
  }

  void backward(const float* grad_out, float* g) const {
    const int out_rows = rows(), out_columns = columns();
    for (int i = 0; i < input.batch * input.channels * input.height * input.width; ++i) g[i] = 0;
    for (int b = 0; b < input.batch; ++b)
      for (int c = 0; c < input.channels; ++c)
        for (int oh = 0; oh < out_rows; ++oh)
          for (int ow = 0; ow < out_columns; ++ow) {
            float* plane = g + (b * input.channels + c) * input.height * input.width;
            const float share = grad_out[((b * input.channels + c) * out_rows + oh) * out_columns + ow] /
                                static_cast<float>(kernel_height * kernel_width);
            for (int kh = 0; kh < kernel_height; ++kh)
              for (int kw = 0; kw < kernel_width; ++kw)
                plane[(oh * stride_height + kh) * input.width + ow * stride_width + kw] += share;
          }
  }
};

}  // namespace loops
