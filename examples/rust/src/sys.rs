//! The part of `ndpool/c.h` that the crate uses. Structs have the fields of the C ones, in their order.
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_void};

pub const SENTENCE_SIZE: usize = 960;
pub const NO_DIVISOR: i64 = i64::MIN;
pub const SAME_DTYPE: i32 = -1;
pub const I64: i32 = 9;

#[repr(C)]
pub struct ndpool_error {
    pub size: usize,
    pub code: i32,
    pub axis: i32,
    pub argument: *const c_char,
    pub values: [i64; 5],
    pub real: f64,
    pub sentence: [c_char; SENTENCE_SIZE],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct ndpool_list {
    pub values: *const i64,
    pub count: i64,
}

#[repr(C)]
pub struct ndpool_pool {
    pub size: usize,
    pub reducer: i32,
    pub geometry: i32,
    pub axes: ndpool_list,
    pub kernel: ndpool_list,
    pub stride: ndpool_list,
    pub padding_before: ndpool_list,
    pub padding_after: ndpool_list,
    pub dilation: ndpool_list,
    pub output_size: ndpool_list,
    pub padding_rule: i32,
    pub ceil_mode: i32,
    pub keepdims: i32,
    pub ties: i32,
    pub nan: i32,
    pub empty: i32,
    pub rounding: i32,
    pub pad_mode: i32,
    pub exclude_padding: i32,
    pub reserved: i32,
    pub divisor: i64,
    pub beta: f64,
    pub p: f64,
}

#[repr(C)]
pub struct ndpool_arrays {
    pub size: usize,
    pub dtype: i32,
    pub result_dtype: i32,
    pub rank: i32,
    pub reserved: i32,
    pub shape: *const i64,
    pub strides: *const i64,
    pub result_strides: *const i64,
}

#[repr(C)]
pub struct ndpool_run {
    pub size: usize,
    pub threads: i32,
    pub standard_floats: i32,
    pub executor: *const c_void,
    pub progress: Option<unsafe extern "C" fn(context: *mut c_void, done: f64) -> bool>,
    pub progress_context: *mut c_void,
}

#[repr(C)]
pub struct ndpool_plan {
    opaque: [u8; 0],
}

#[link(name = "ndpool")]
extern "C" {
    pub fn ndpool_version() -> *const c_char;
    pub fn ndpool_plan_create(
        pool: *const ndpool_pool,
        arrays: *const ndpool_arrays,
        options: *const c_void,
        plan: *mut *mut ndpool_plan,
        error: *mut ndpool_error,
    ) -> i32;
    pub fn ndpool_plan_destroy(plan: *mut ndpool_plan);
    pub fn ndpool_plan_output_rank(plan: *const ndpool_plan) -> i32;
    pub fn ndpool_plan_output_shape(plan: *const ndpool_plan) -> *const i64;
    pub fn ndpool_forward(
        plan: *const ndpool_plan,
        x: *const c_void,
        y: *mut c_void,
        run: *const ndpool_run,
        error: *mut ndpool_error,
    ) -> i32;
    pub fn ndpool_forward_with_indices(
        plan: *const ndpool_plan,
        x: *const c_void,
        y: *mut c_void,
        indices: *mut c_void,
        index_dtype: i32,
        run: *const ndpool_run,
        error: *mut ndpool_error,
    ) -> i32;
    pub fn ndpool_vjp(
        plan: *const ndpool_plan,
        x: *const c_void,
        gy: *const c_void,
        gx: *mut c_void,
        run: *const ndpool_run,
        error: *mut ndpool_error,
    ) -> i32;
}
