/**
 * A time of day as a text: the browser's own field shows AM and PM in the language of the browser, and the pages show 24 hours.
 */
export const CLOCK_TEXT = {
  pattern: '([01][0-9]|2[0-3]):[0-5][0-9]',
  title: '08:30',
  placeholder: '08:30',
  maxLength: 5,
  size: 5,
  autoComplete: 'off',
} as const;
