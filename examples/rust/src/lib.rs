//! Pooling of packed arrays: a safe interface to libndpool, as an example of what its C interface makes possible.
//!
//! ```no_run
//! let plan = ndpool::Plan::<f32>::new(&ndpool::Pool::windows(ndpool::Reducer::Max, &[2, 2]), &[2, 4]).unwrap();
//! let y = plan.forward(&[1.0, 3.0, 2.0, 9.0, 5.0, 3.0, 1.0, 2.0]).unwrap();
//! assert_eq!(y, [5.0, 9.0]);
//! ```

mod sys;

use std::ffi::CStr;
use std::fmt;
use std::marker::PhantomData;
use std::mem::size_of;
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr::{null, null_mut, NonNull};

/// What is wrong with a call: a code of `ndpool_code`, and one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub code: i32,
    pub sentence: String,
}

/// The code of a run that its progress callback has cancelled.
pub const CANCELLED: i32 = 100;
/// The code of a slice that is not as long as its shape says.
pub const WRONG_LENGTH: i32 = -1;

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.sentence)
    }
}
impl std::error::Error for Error {}

/// The version of the library that is loaded.
pub fn version() -> &'static str {
    // SAFETY: a literal of the library, in ASCII.
    unsafe { CStr::from_ptr(sys::ndpool_version()) }.to_str().expect("a version is ASCII")
}

mod sealed {
    pub trait Sealed {}
}
/// A scalar that the library knows.
pub trait Element: sealed::Sealed + Copy + Default {
    const DTYPE: i32;
}
/// A scalar with derivatives.
pub trait Float: Element {}
macro_rules! elements {
    ($($scalar:ty = $dtype:expr),*) => {$(
        impl sealed::Sealed for $scalar {}
        impl Element for $scalar { const DTYPE: i32 = $dtype; }
    )*};
}
elements!(f32 = 0, f64 = 1, i8 = 4, u8 = 5, i16 = 6, u16 = 7, i32 = 8, i64 = 9, u32 = 10, u64 = 11, bool = 12);
impl Float for f32 {}
impl Float for f64 {}

/// What a pool makes of a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reducer {
    Max,
    Min,
    Sum,
    Average,
    SmoothMax { beta: f64 },
    Lp { p: f64 },
}

/// A pool over sliding windows or adaptive bins.
#[derive(Debug, Clone, PartialEq)]
pub struct Pool {
    reducer: Reducer,
    adaptive: bool,
    sizes: Vec<i64>,
    stride: Vec<i64>,
    padding: Vec<i64>,
}

impl Pool {
    /// Windows of `kernel` cells on the last axes, side by side.
    pub fn windows(reducer: Reducer, kernel: &[i64]) -> Pool {
        Pool { reducer, adaptive: false, sizes: kernel.to_vec(), stride: vec![], padding: vec![] }
    }
    /// So many bins on the last axes.
    pub fn adaptive(reducer: Reducer, output_size: &[i64]) -> Pool {
        Pool { reducer, adaptive: true, sizes: output_size.to_vec(), stride: vec![], padding: vec![] }
    }
    /// Cells from window to window.
    pub fn stride(mut self, stride: &[i64]) -> Pool {
        self.stride = stride.to_vec();
        self
    }
    /// Cells around the input.
    pub fn padding(mut self, padding: &[i64]) -> Pool {
        self.padding = padding.to_vec();
        self
    }

    /// The description for C, which points into this pool.
    fn raw(&self) -> sys::ndpool_pool {
        let none = sys::ndpool_list { values: null(), count: 0 };
        let list = |numbers: &[i64]| sys::ndpool_list { values: numbers.as_ptr(), count: numbers.len() as i64 };
        let (reducer, beta, p) = match self.reducer {
            Reducer::Max => (0, 1.0, 2.0),
            Reducer::Min => (1, 1.0, 2.0),
            Reducer::Sum => (2, 1.0, 2.0),
            Reducer::Average => (3, 1.0, 2.0),
            Reducer::SmoothMax { beta } => (4, beta, 2.0),
            Reducer::Lp { p } => (5, 1.0, p),
        };
        sys::ndpool_pool {
            size: size_of::<sys::ndpool_pool>(),
            reducer,
            geometry: i32::from(self.adaptive),
            axes: none,
            kernel: if self.adaptive { none } else { list(&self.sizes) },
            stride: list(&self.stride),
            padding_before: list(&self.padding),
            padding_after: none,
            dilation: none,
            output_size: if self.adaptive { list(&self.sizes) } else { none },
            padding_rule: 0,
            ceil_mode: 0,
            keepdims: 0,
            ties: 0,
            nan: 0,
            empty: 0,
            rounding: 0,
            pad_mode: 0,
            exclude_padding: 0,
            reserved: 0,
            divisor: sys::NO_DIVISOR,
            beta,
            p,
        }
    }
}

/// A pool prepared for packed arrays of one shape. Threads may share it.
pub struct Plan<T> {
    raw: NonNull<sys::ndpool_plan>,
    output_shape: Vec<i64>,
    inputs: usize,
    scalar: PhantomData<T>,
}
// SAFETY: plans are immutable, and c.h says that any number of threads may run one.
unsafe impl<T> Send for Plan<T> {}
unsafe impl<T> Sync for Plan<T> {}

impl<T> Drop for Plan<T> {
    fn drop(&mut self) {
        // SAFETY: nobody borrows the plan any more.
        unsafe { sys::ndpool_plan_destroy(self.raw.as_ptr()) }
    }
}

fn count(shape: &[i64]) -> usize {
    shape.iter().map(|&extent| extent as usize).product()
}

/// Calls C with a place for its error.
fn call(function: impl FnOnce(*mut sys::ndpool_error) -> i32) -> Result<(), Error> {
    let mut error = sys::ndpool_error {
        size: size_of::<sys::ndpool_error>(),
        code: 0,
        axis: -1,
        argument: null(),
        values: [0; 5],
        real: 0.0,
        sentence: [0; sys::SENTENCE_SIZE],
    };
    let code = function(&mut error);
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the library ends its sentences with 0.
    let sentence = unsafe { CStr::from_ptr(error.sentence.as_ptr()) }.to_string_lossy().into_owned();
    Err(Error { code, sentence })
}

fn require_length(name: &str, length: usize, expected: usize) -> Result<(), Error> {
    if length == expected {
        return Ok(());
    }
    let sentence = format!("{name} has {length} elements; its shape has {expected}");
    Err(Error { code: WRONG_LENGTH, sentence })
}

impl<T: Element> Plan<T> {
    /// Prepares a pool for inputs of `shape`.
    pub fn new(pool: &Pool, shape: &[i64]) -> Result<Plan<T>, Error> {
        let described = pool.raw();
        let arrays = sys::ndpool_arrays {
            size: size_of::<sys::ndpool_arrays>(),
            dtype: T::DTYPE,
            result_dtype: sys::SAME_DTYPE,
            rank: i32::try_from(shape.len()).unwrap_or(i32::MAX),
            reserved: 0,
            shape: shape.as_ptr(),
            strides: null(),
            result_strides: null(),
        };
        let mut raw = null_mut();
        // SAFETY: `described` points into `pool` and `arrays` into `shape`, which live longer than the call.
        call(|error| unsafe { sys::ndpool_plan_create(&described, &arrays, null(), &mut raw, error) })?;
        let raw = NonNull::new(raw).expect("a plan was made");
        // SAFETY: the shape lives as long as the plan, and has so many entries; it is null for none of them.
        let output_shape = unsafe {
            let rank = sys::ndpool_plan_output_rank(raw.as_ptr()) as usize;
            std::slice::from_raw_parts(sys::ndpool_plan_output_shape(raw.as_ptr()), rank).to_vec()
        };
        Ok(Plan { raw, output_shape, inputs: count(shape), scalar: PhantomData })
    }

    /// The shape of the result.
    pub fn output_shape(&self) -> &[i64] {
        &self.output_shape
    }

    /// The pool of `x`.
    pub fn forward(&self, x: &[T]) -> Result<Vec<T>, Error> {
        self.forward_while(x, |_| true)
    }

    /// The same, as long as `go_on`, which is told the share that is done, says so. A panic of it goes on here.
    pub fn forward_while(&self, x: &[T], go_on: impl FnMut(f64) -> bool + Send) -> Result<Vec<T>, Error> {
        require_length("x", x.len(), self.inputs)?;
        let mut y = vec![T::default(); count(&self.output_shape)];
        let mut watcher = Watcher { go_on, panic: None };
        let run = watcher.run();
        // SAFETY: both slices have the lengths that the plan was made for.
        let result = call(|error| unsafe {
            sys::ndpool_forward(self.raw.as_ptr(), x.as_ptr().cast(), y.as_mut_ptr().cast(), &run, error)
        });
        if let Some(panic) = watcher.panic {
            std::panic::resume_unwind(panic);
        }
        result.map(|()| y)
    }

    /// Max and min: the pool of `x`, and where in the pooled axes each extreme is.
    pub fn forward_with_indices(&self, x: &[T]) -> Result<(Vec<T>, Vec<i64>), Error> {
        require_length("x", x.len(), self.inputs)?;
        let outputs = count(&self.output_shape);
        let (mut y, mut indices) = (vec![T::default(); outputs], vec![0_i64; outputs]);
        // SAFETY: all three have the lengths that the plan was made for.
        call(|error| unsafe {
            let (values, places) = (y.as_mut_ptr().cast(), indices.as_mut_ptr().cast());
            sys::ndpool_forward_with_indices(self.raw.as_ptr(), x.as_ptr().cast(), values, places, sys::I64, null(), error)
        })?;
        Ok((y, indices))
    }
}

impl<T: Float> Plan<T> {
    /// The gradient of the input `x` for a gradient of the result.
    pub fn vjp(&self, x: &[T], gy: &[T]) -> Result<Vec<T>, Error> {
        require_length("x", x.len(), self.inputs)?;
        require_length("gy", gy.len(), count(&self.output_shape))?;
        let mut gx = vec![T::default(); self.inputs];
        // SAFETY: all three have the lengths that the plan was made for.
        call(|error| unsafe {
            let (x, gy) = (x.as_ptr().cast(), gy.as_ptr().cast());
            sys::ndpool_vjp(self.raw.as_ptr(), x, gy, gx.as_mut_ptr().cast(), null(), error)
        })?;
        Ok(gx)
    }
}

/// A progress callback and the panic that ended it: none may leave a function that C calls.
struct Watcher<F> {
    go_on: F,
    panic: Option<Box<dyn std::any::Any + Send>>,
}

impl<F: FnMut(f64) -> bool + Send> Watcher<F> {
    fn run(&mut self) -> sys::ndpool_run {
        sys::ndpool_run {
            size: size_of::<sys::ndpool_run>(),
            threads: 0,
            standard_floats: 0,
            executor: null(),
            progress: Some(Self::progress),
            progress_context: (self as *mut Self).cast(),
        }
    }

    unsafe extern "C" fn progress(context: *mut c_void, done: f64) -> bool {
        // SAFETY: the library passes what `run` has set, from one thread at a time.
        let watcher = &mut *context.cast::<Self>();
        catch_unwind(AssertUnwindSafe(|| (watcher.go_on)(done))).unwrap_or_else(|panic| {
            watcher.panic = Some(panic);
            false
        })
    }
}
