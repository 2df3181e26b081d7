/** A catalogue in another language: the same keys, other words. */
export type Words<T> = { [K in keyof T]: T[K] extends string ? string : Words<T[K]> };
