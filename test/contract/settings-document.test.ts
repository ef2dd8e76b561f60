import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { configSchema } from '../../agent/config.ts';
import { checkConfig, settingsSchema } from '../../server/config.ts';

/** docs/settings.md lists every setting with its default and its range, as the code has them. */

interface Row {
  name: string;
  /** As it stands in the second cell. */
  fallback: string;
  values: string;
  meaning: string;
}

const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');

function rowsUnder(heading: string): Row[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('| `'));
  return lines.map((line) => {
    const [name = '', fallback = '', values = '', meaning = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    return { name: name.replaceAll('`', ''), fallback, values, meaning };
  });
}

/** `a`, `b` are the values of a cell that consists of nothing else. */
function literals(cell: string): string[] | undefined {
  return /^`[^`]+`(?:, `[^`]+`)*$/.test(cell) ? [...cell.matchAll(/`([^`]+)`/g)].map(([, text]) => text!) : undefined;
}

interface Schema {
  type?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  enum?: string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}

interface Setting {
  name: string;
  schema: Schema;
  required: boolean;
}

/** Every setting of an object, with those of its parts: `routers[].api.port`. */
function settingsOf({ properties = {}, required = [] }: Schema, prefix = ''): Setting[] {
  return Object.entries(properties).flatMap(([key, schema]) => {
    const isRequired = required.includes(key);
    if (schema.items?.properties)
      return [{ name: `${prefix}${key}[]`, schema, required: isRequired }, ...settingsOf(schema.items, `${prefix}${key}[].`)];
    if (!schema.properties) return [{ name: `${prefix}${key}`, schema, required: isRequired }];
    // A part with a default is written only by its settings.
    const own = schema.default === undefined ? [{ name: `${prefix}${key}`, schema: {}, required: isRequired }] : [];
    return [...own, ...settingsOf(schema, `${prefix}${key}.`)];
  });
}

const ofServer = settingsOf(z.toJSONSchema(settingsSchema, { io: 'input', unrepresentable: 'any' }) as Schema);
const ofAgent = settingsOf(z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as Schema);
const serverRows = rowsUnder('Control plane');
const agentRows = rowsUnder('Agent');

test('the table of the control plane has every setting once, and no other', () => {
  const names = ['SIGNALBOX_CONFIG', ...ofServer.map(({ name }) => name)];
  expect(serverRows.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
});

test('the table of the agent has every setting once, and no other', () => {
  expect(agentRows.map(({ name }) => name).toSorted()).toEqual(ofAgent.map(({ name }) => name).toSorted());
  expect(agentRows.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['routers[].forward_way', 'log_level', 'routers[].api.anonymous_tls']),
  );
});

test.each(ofServer)('the control plane has the documented default and range of $name', ({ name, schema }) => {
  const { fallback, values } = serverRows.find((row) => row.name === name)!;
  // Without a default in the schema there is none, or it follows from other settings, in words.
  expect(literals(fallback)).toEqual(schema.default === undefined || schema.default === '' ? undefined : [schema.default]);
  if (schema.enum) expect(literals(values)).toEqual(schema.enum);
  const range = /^(\d+) to (\d+)$/.exec(values);
  // Another setting must stay below or above, so both ends are tried with the two far apart.
  const take = (value: number) =>
    checkConfig({ SIGNALBOX_HEARTBEAT_SECONDS: '1', SIGNALBOX_OFFLINE_AFTER_SECONDS: '86400', [name]: String(value) });
  if (range) {
    const [least, most] = [Number(range[1]), Number(range[2])];
    for (const value of [least, most]) expect(() => take(value)).not.toThrow();
    for (const value of [least - 1, most + 1]) expect(() => take(value)).toThrow(`${name} must be a whole number from ${least} to ${most}`);
  } else {
    expect(() => take(-1), 'a number has its range in the table').not.toThrow(/whole number/);
  }
});

test.each(ofAgent)('the agent has the documented default and range of $name', ({ name, schema, required }) => {
  const { fallback, values } = agentRows.find((row) => row.name === name)!;
  if (required) expect(fallback).toBe('required');
  else if (schema.default !== undefined) expect(literals(fallback)).toEqual([schema.default].flat().map(String));
  else expect(literals(fallback)).toBeUndefined();
  if (schema.enum) expect(literals(values)).toEqual(schema.enum);
  if (schema.type === 'boolean') expect(literals(values)).toEqual(['true', 'false']);
  if (schema.type === 'integer') expect(values).toBe(`${schema.minimum} to ${schema.maximum}`);
  if (schema.type === 'array' && schema.maxItems) expect(values).toMatch(new RegExp(`^${schema.minItems} to ${schema.maxItems} `));
});

test('every setting says what it is for', () => {
  for (const { name, meaning } of serverRows) expect(meaning, name).not.toBe('');
});
