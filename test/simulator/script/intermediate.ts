import type { Arg, Block, Expr, Statement } from './ast.ts';
import { toText } from './values.ts';

/** The form `:put [:parse "…"]` prints: `(evl /ip/address/print)`. */
export function renderBlock(block: Block): string {
  return block.statements.map(renderStatement).join(';');
}

function renderStatement(statement: Statement): string {
  if (statement.kind === 'block') return `(evl ${renderBlock(statement.body)})`;
  if (statement.kind === 'call') return `(evl ${[renderExpr(statement.callee), ...statement.args.map(renderArg)].join(';')})`;
  if (statement.kind === 'builtin') return `(evl /${statement.name}${renderArgs(statement.args, firstNames[statement.name] ?? ['value'])})`;
  const path = statement.path === '/' ? '' : statement.path;
  const where = statement.where === undefined ? '' : `where=${renderExpr(statement.where)}`;
  return `(evl ${path}/${statement.command}${renderArgs(statement.args, [])}${where})`;
}

/** What the first values of a global command are called when it is printed. */
const firstNames: Readonly<Record<string, readonly string[]>> = {
  put: ['message'],
  error: ['message'],
  local: ['name', 'value'],
  global: ['name', 'value'],
  set: ['name', 'value'],
  if: ['condition'],
  foreach: ['counter'],
  for: ['counter'],
  do: ['command'],
  delay: ['delay-time'],
  parse: ['script'],
};

function renderArgs(args: readonly Arg[], names: readonly string[]): string {
  let position = 0;
  return args
    .map((arg) => {
      const name = arg.name ?? names[position++] ?? '';
      const value = arg.value === undefined ? '' : renderExpr(arg.value);
      return `${arg.negated === true ? '!' : ''}${name}=${name === 'name' && arg.name === undefined ? `$${value}` : value}`;
    })
    .join(';');
}

function renderArg(arg: Arg): string {
  const value = arg.value === undefined ? '' : renderExpr(arg.value);
  return arg.name === undefined ? value : `${arg.name}=${value}`;
}

function renderExpr(expr: Expr): string {
  switch (expr.kind) {
    case 'literal':
      return toText(expr.value);
    case 'variable':
    case 'property':
      return `$${expr.name}`;
    case 'template':
      return `(. ${expr.parts.map((part) => (typeof part === 'string' ? part : renderExpr(part))).join(' ')})`;
    case 'unary':
      return `(${expr.op} ${renderExpr(expr.operand)})`;
    case 'binary':
      return `(${expr.op} ${renderExpr(expr.left)} ${renderExpr(expr.right)})`;
    case 'command':
      return `(evl ${renderBlock(expr.body)})`;
    case 'array':
      return `{${expr.items.map((item) => `${item.key === undefined ? '' : `${item.key}=`}${renderExpr(item.value)}`).join('; ')}}`;
    case 'code':
      return renderBlock(expr.body);
  }
}
