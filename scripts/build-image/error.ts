/** The image cannot be built, for a reason that the user can remove. */
export class BuildError extends Error {
  override readonly name = 'BuildError';
}
