//! What the crate can do, checked by its own assertions.

use ndpool::{Plan, Pool, Reducer};

fn main() -> Result<(), ndpool::Error> {
    println!("ndpool {}", ndpool::version());

    let x = [1.0_f32, 3.0, 2.0, 9.0, 5.0, 3.0, 1.0, 2.0];
    let plan = Plan::<f32>::new(&Pool::windows(Reducer::Max, &[2, 2]), &[2, 4])?;
    let (y, indices) = plan.forward_with_indices(&x)?;
    println!("max {y:?} at {indices:?} of shape {:?}", plan.output_shape());
    assert_eq!((y.as_slice(), indices.as_slice()), (&[5.0, 9.0][..], &[4, 3][..]));
    let gx = plan.vjp(&x, &[1.0, 10.0])?;
    println!("gradient {gx:?}");
    assert_eq!(gx, [0.0, 0.0, 0.0, 10.0, 1.0, 0.0, 0.0, 0.0]);

    let bins = Plan::<u8>::new(&Pool::adaptive(Reducer::Average, &[2]), &[5])?;
    println!("averages {:?}", bins.forward(&[1, 2, 4, 8, 16])?);

    // A plan may be shared by threads.
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| assert_eq!(plan.forward(&x).unwrap(), [5.0, 9.0]));
        }
    });

    // Errors are values, and nothing unwinds through C.
    let windows = Pool::windows(Reducer::Sum, &[3]).stride(&[1]).padding(&[1]);
    let wrong = Plan::<f64>::new(&windows.clone().stride(&[0]), &[4]).err().expect("a stride of 0 is wrong");
    println!("error {}: {wrong}", wrong.code);
    let sums = Plan::<f64>::new(&windows, &[4])?;
    assert_eq!(sums.forward(&[1.0, 2.0, 3.0, 4.0])?, [3.0, 6.0, 9.0, 7.0]);
    assert_eq!(sums.forward(&[1.0]).unwrap_err().code, ndpool::WRONG_LENGTH);
    let large = Plan::<f64>::new(&Pool::windows(Reducer::Sum, &[2]), &[1 << 20])?;
    let cancelled = large.forward_while(&vec![1.0; 1 << 20], |_| false).unwrap_err();
    println!("error {}: {cancelled}", cancelled.code);
    assert_eq!(cancelled.code, ndpool::CANCELLED);
    Ok(())
}
