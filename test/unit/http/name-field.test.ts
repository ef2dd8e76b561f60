import { describe, expect, it } from 'vitest';
import { nameField } from '../../../server/platform/http/fields.ts';

describe('a name', () => {
  it.each(['Rīga, depot', 'מרכז נתונים', 'データ', '👩‍🔧 bench', '#1', 'a"b', '<b>'])('may be "%s"', (name) => {
    expect(nameField.parse(` ${name} `)).toBe(name);
  });

  it.each([
    ['', 'too small'],
    ['   ', 'too small'],
    ['\u200B\u200D', 'must contain something that can be seen'],
    ['core\u202Eerocxe', 'must not contain control characters'],
    ['core\u2066', 'must not contain control characters'],
    ['core\u0007', 'must not contain control characters'],
    ['core\nedge', 'must not contain control characters'],
    ['core\0', 'must not contain NUL'],
  ])('must not be %j', (name, why) => {
    expect(nameField.safeParse(name).error?.issues[0]?.message.toLowerCase()).toContain(why.toLowerCase());
  });
});
