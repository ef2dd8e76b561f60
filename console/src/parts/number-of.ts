/** A typed number, for a request. JSON has no NaN: a text that is no number goes as it is, and the server names the field. */
export function numberOf(text: string): number {
  const value = Number(text);
  return Number.isFinite(value) && text.trim() !== '' ? value : (text as unknown as number);
}

/** Typed degrees of a position, with a point or a comma; null when nothing is typed. */
export function degreesOf(text: string): number | null {
  const trimmed = text.trim().replace(',', '.');
  return trimmed === '' ? null : numberOf(trimmed);
}
