// Settings worth a look, as links.
export const EXAMPLES = [
  ["3 × 3, stride 2, padding 1", "#max&shape=6,6&kernel=3,3&stride=2,2&padding=1,1&x=3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3,2,3,8,4,6,2,6,4,3,3,8,3,2,7,9,5,0,2,8,8"],
  ["Dilation leaves gaps", "#sum&shape=9,9&kernel=3,3&stride=3,3&dilation=2,2&gradient=count"],
  ["Ceil mode: an overhanging window", "#avg&shape=6,7&kernel=3,3&stride=2,3&ceil"],
  ["Ceil mode drops a window", "#max&shape=5&kernel=2&stride=2&padding=1&ceil&x=3,1,4,1,5"],
  ["SAME padding, odd cell last", "#avg&shape=4,5&kernel=2,4&stride=1,2&padding=same&exclude_pad"],
  ["Unequal padding", "#max&shape=5,5&kernel=3,3&stride=1,1&padding=0:2,2:0&x=1,5,2,8,3,0,4,9,6,1,7,2,2,5,3,8,1,6,4,0,3,9,5,1,7"],
  ["Adaptive bins share cells", "#adaptive-avg&shape=5,7&output_size=3,3"],
  ["Ties: who gets the gradient", "#max&shape=4,6&kernel=2,3&ties=split&x=1,2,2,0,0,0,2,1,0,0,0,0,3,3,1,2,0,2,3,3,0,1,2,2"],
  ["NaN wins, once", "#max&shape=4,6&kernel=2,2&x=1,nan,2,0,5,1,nan,1,0,3,2,2,3,4,1,nan,0,2,2,3,0,1,2,7"],
  ["Smooth max against max", "#smooth-max&shape=4,6&kernel=2,3&beta=2&x=1,2,2,0,1,0,2,1,0,0,3,0,3,3,1,2,0,2,3,4,0,1,2,2"],
  ["Lp norm of windows", "#lp&shape=4,4&kernel=2,2&p=2&x=3,-4,0,5,0,0,12,0,1,2,-6,8,2,4,0,0"],
  ["Global max", "#global-max&shape=4,5&x=1,5,2,9,3,0,4,9,6,1,7,2,2,5,3,8,1,6,4,0"],
  ["3-D as slices", "#max&shape=4,5,5&kernel=2,3,3&stride=2,2,2&padding=0,1,1"],
  ["Bins along one axis of two", "#adaptive-max&shape=4,8&output_size=3&axes=1&x=1,5,2,9,3,0,4,9,6,1,7,2,2,5,3,8,1,6,4,0,3,9,5,1,7,2,8,1,0,4,6,3"],
  ["An error: windows on padding alone", "#max&shape=5,5&kernel=2,2&stride=2,2&padding=3,0"],
];
