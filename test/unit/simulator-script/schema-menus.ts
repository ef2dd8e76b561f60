import { Trap, type MenuTree } from '../../simulator/menu/types.ts';

interface SchemaNode {
  readonly [name: string]: SchemaNode | string | undefined;
}

/** The menus of a recorded schema dump: it can be parsed against, not run. */
export function schemaMenus(schema: SchemaNode): MenuTree {
  // The dump is a subset; the recorded inputs also name these.
  const root: SchemaNode = {
    ...schema,
    console: { inspect: { _type: 'cmd' } },
    interface: { ...nodeOf(schema['interface']), ethernet: { _type: 'dir', monitor: { _type: 'cmd' }, print: { _type: 'cmd' } } },
  };
  const at = (path: string): SchemaNode =>
    path
      .split('/')
      .filter((name) => name !== '')
      .reduce<SchemaNode>((node, name) => nodeOf(node[name]), root);
  const names = (path: string, kind: 'dir' | 'cmd' | 'arg'): string[] =>
    Object.entries(at(path))
      .filter(([, node]) => typeof node === 'object' && (node['_type'] ?? 'dir') === kind)
      .map(([name]) => name);
  return {
    hasPath: (path) => Object.keys(at(path)).length > 0,
    commands: (path) => names(path, 'cmd'),
    children: (path) => names(path, 'dir'),
    parameters: (path, command) => names(`${path}/${command}`, 'arg'),
    items: () => [],
    observe: () => Promise.resolve(),
    run: () => Promise.reject(new Trap('no such command')),
  };
}

function nodeOf(node: SchemaNode | string | undefined): SchemaNode {
  return typeof node === 'object' ? node : {};
}
