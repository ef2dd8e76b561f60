/**
 * Room for some of what was found of several kinds: each kind gets one after the other, so that thousands of devices do not leave the one
 * router out. In the order of the kinds, and within a kind in its own order. Pure.
 */
export function chooseMatches<Found>(ofKinds: readonly (readonly Found[])[], room: number): Found[] {
  const taken = ofKinds.map(() => 0);
  let left = room;
  for (let turn = 0; left > 0 && ofKinds.some((found) => found.length > turn); turn += 1) {
    for (const [kind, found] of ofKinds.entries()) {
      if (left === 0 || found.length <= turn) continue;
      taken[kind]! += 1;
      left -= 1;
    }
  }
  return ofKinds.flatMap((found, kind) => found.slice(0, taken[kind]));
}
