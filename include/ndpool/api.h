/* What the shared library exports. */
#ifndef NDPOOL_API_H
#define NDPOOL_API_H

/** Marks a function, or a type whose type information programs share, that the shared library exports. Templates need
 * no mark: a program compiles its own. */
#define NDPOOL_API __attribute__((visibility("default")))

#endif
