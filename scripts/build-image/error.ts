/** An image cannot be built, for a reason that whoever builds it can do something about. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
}
