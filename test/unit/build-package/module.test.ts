import { expect, test } from 'vitest';
import { compileModule } from '../../../scripts/build-package/module.ts';

test('types become blanks, so that every line and column stays where it was', () => {
  const source = "import type { A } from './a.ts';\nexport const one: number = 1;\n";
  const { code } = compileModule(source);
  expect(code).toBe(`${' '.repeat(32)}\nexport const one         = 1;\n`);
  expect(code.length).toBe(source.length);
});

test.each([
  ["import { a } from './a.ts';", "import { a } from './a.js';"],
  ["export { a } from '../a.ts';", "export { a } from '../a.js';"],
  ["export * from './a.ts';", "export * from './a.js';"],
  ["await import('./a.ts');", "await import('./a.js');"],
  ["new Worker(new URL('a.ts', import.meta.url));", "new Worker(new URL('a.js', import.meta.url));"],
  ['import data from "./a.json" with { type: "json" };', 'import data from "./a.json" with { type: "json" };'],
])('%s leads to the compiled module', (source, compiled) => {
  expect(compileModule(source).code).toBe(compiled);
});

test('texts that only look like addresses stay as they are', () => {
  const source = "throw new Error(\"nothing comes from './a.ts'\"); const file = 'a.ts';";
  expect(compileModule(source)).toEqual({ code: source, packages: [] });
});

test('positions are right behind letters of several bytes', () => {
  expect(compileModule("const umlauts = 'äöü🙂'; import('./a.ts');").code).toBe("const umlauts = 'äöü🙂'; import('./a.js');");
});

test('names the packages of all imports, and neither Node’s modules nor files', () => {
  const source = `
    import fs from 'node:fs';
    import { core } from 'zod/v4/core';
    import swagger from '@fastify/swagger';
    import type { Types } from 'only-types';
    const pg = await import('pg');
    const oui = import.meta.resolve('oui-data');
    const csv = new URL('products.csv', import.meta.url);
    export { z } from 'zod';`;
  expect(compileModule(source).packages).toEqual(['zod', '@fastify/swagger', 'pg', 'oui-data']);
});

test('TypeScript that is more than types is refused', () => {
  expect(() => compileModule('enum A { B }')).toThrow(/enum/);
});
