/** A reason that wants to stand at its break. */
export interface Wanted<T> {
  label: T;
  /** Where the break begins, pixels. */
  x: number;
  /** Of the text with its distance to the leader, pixels. */
  width: number;
  /** The longest breaks are written first. */
  weight: number;
}

export interface Placed<T> {
  label: T;
  x: number;
  width: number;
  /** 0 is next to the rail. */
  level: number;
  /** The text stands left of its leader. */
  isLeft: boolean;
}

export interface Placing<T> {
  placed: Placed<T>[];
  /** Reasons for which there was no room. */
  folded: number;
}

const LEVELS = 3;
/** Beyond this part of the width, texts turn left. */
const TURNS_AT = 0.6;
/** Air between two texts, pixels. */
const AIR = 8;

/**
 * Finds a place for each reason: on the lowest level where it touches no other text and no leader. What finds none of three levels is counted.
 */
export function place<T>(wanted: readonly Wanted<T>[], width: number): Placing<T> {
  const placed: Placed<T>[] = [];
  let folded = 0;
  for (const want of wanted.toSorted((one, other) => other.weight - one.weight)) {
    const isLeft = turnsLeft(want, width);
    const spot = Array.from({ length: LEVELS }, (_, level) => ({ ...want, level, isLeft })).find((one) => isFree(one, placed));
    if (spot) placed.push({ label: spot.label, x: spot.x, width: spot.width, level: spot.level, isLeft });
    else folded += 1;
  }
  return { placed, folded };
}

function turnsLeft({ x, width }: Wanted<unknown>, all: number): boolean {
  return x > all * TURNS_AT ? x - width >= 0 || x + width > all : x + width > all;
}

function isFree(one: Placed<unknown>, placed: readonly Placed<unknown>[]): boolean {
  return placed.every((other) => {
    if (one.level === other.level) return !touches(boxOf(one), boxOf(other));
    // The leader of the higher one goes down to the rail through the levels below.
    const [higher, lower] = one.level > other.level ? [one, other] : [other, one];
    const { left, right } = boxOf(lower);
    return higher.x < left - AIR / 2 || higher.x > right + AIR / 2;
  });
}

interface Box {
  left: number;
  right: number;
}

function boxOf({ x, width, isLeft }: Placed<unknown>): Box {
  return isLeft ? { left: x - width, right: x } : { left: x, right: x + width };
}

function touches(one: Box, other: Box): boolean {
  return one.left < other.right + AIR && other.left < one.right + AIR;
}
