import { nothing, type Value } from './values.ts';

/** An item a `where` looks at: its values by property, and every name that means a property there. */
export interface Item {
  readonly names: ReadonlySet<string>;
  value(name: string): Value;
}

/** The variables in view: a chain of blocks, each with its locals and the globals it has asked for. */
export class Environment {
  private readonly locals = new Map<string, Value>();
  private readonly asked = new Set<string>();
  private readonly globals: Map<string, Value>;
  private readonly parent: Environment | undefined;
  readonly item: Item | undefined;

  constructor(globals: Map<string, Value>, parent?: Environment, item: Item | undefined = parent?.item) {
    this.globals = globals;
    this.parent = parent;
    this.item = item;
  }

  /** A block inside this one. */
  child(): Environment {
    return new Environment(this.globals, this);
  }

  /** The same variables while a `where` looks at an item. */
  at(item: Item): Environment {
    return new Environment(this.globals, this, item);
  }

  declare(name: string, value: Value): void {
    this.asked.delete(name);
    this.locals.set(name, value);
  }

  /** `:global x`: makes the router's variable visible here. */
  ask(name: string): void {
    this.locals.delete(name);
    this.asked.add(name);
  }

  get(name: string): Value {
    const owner = this.owner(name);
    if (owner === undefined) return nothing;
    return (owner.asked.has(name) ? this.globals.get(name) : owner.locals.get(name)) ?? nothing;
  }

  /** Sets a variable where it was declared. `nothing` removes a global, as `:set x` does. */
  set(name: string, value: Value): void {
    const owner = this.owner(name) ?? this;
    if (!owner.asked.has(name)) owner.locals.set(name, value);
    else if (value.type === 'nothing') this.globals.delete(name);
    else this.globals.set(name, value);
  }

  private owner(name: string): Environment | undefined {
    if (this.locals.has(name) || this.asked.has(name)) return this;
    return this.parent?.owner(name);
  }
}
