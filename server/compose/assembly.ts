import type { AgentListener, Feature, Measures } from '../feature.ts';
import type { App } from '../platform/http/app.ts';

/** A feature with its services. `Late` is what its routes need. */
interface Unit<Late> {
  start: () => Promise<void>;
  stop: (() => Promise<void>) | undefined;
  sweep: (signal: AbortSignal) => Promise<void>;
  agentListener: () => AgentListener;
  measures: () => Measures;
  routes: (scope: App, services: Late) => void;
  openRoutes: ((scope: App, services: Late) => Promise<void>) | undefined;
  internalRoutes: (scope: App, services: Late) => void;
}

/** All features in their order. */
export interface Features {
  /** @param closers called in reverse order at the end, also when a later feature fails to start */
  start(closers: (() => Promise<void>)[]): Promise<void>;
  /** Deletes old records of every feature, also when others fail. @throws AggregateError of the failures; the next sweep tries again */
  sweep(signal: AbortSignal): Promise<void>;
  readonly listeners: readonly AgentListener[];
  readonly measures: readonly Measures[];
  addRoutes(scope: App): void;
  /** Each feature gets a separate scope. */
  addOpenRoutes(app: App): Promise<void>;
  addInternalRoutes(scope: App): void;
}

/** Assembles features one after the other. `Services` are their services so far, `Late` is what their routes need. */
export class Assembly<Services extends object, Late> {
  readonly services: Services;
  readonly #units: readonly Unit<Late>[];

  private constructor(services: Services, units: readonly Unit<Late>[]) {
    this.services = services;
    this.#units = units;
  }

  /** @param services services for every feature */
  static of<Services extends object>(services: Services): Assembly<Services, unknown> {
    return new Assembly<Services, unknown>(services, []);
  }

  /** Builds a feature. Does not compile when no earlier feature brings a service that it needs. */
  add<Brings extends object, Api, Open, Internal>(
    feature: Feature<Services, Brings, Api, Open, Internal>,
  ): Assembly<Services & Brings, Late & Api & Open & Internal> {
    const own = feature.create(this.services);
    const taken = Object.keys(own).find((name) => name in this.services);
    if (taken !== undefined) throw new Error(`two features bring a service named ${taken}`);
    return new Assembly<Services & Brings, Late & Api & Open & Internal>({ ...this.services, ...own }, [
      ...this.#units,
      unitOf(feature, own),
    ]);
  }

  /** @param services the services of this assembly. Does not compile when a route needs one that no feature brings */
  complete(services: Late): Features {
    const units = this.#units;
    return {
      async start(closers) {
        for (const unit of units) {
          await unit.start();
          if (unit.stop) closers.push(unit.stop);
        }
      },
      async sweep(signal) {
        const failures: unknown[] = [];
        for (const unit of units) {
          if (signal.aborted) break;
          await unit.sweep(signal).catch((error: unknown) => failures.push(error));
        }
        if (failures.length > 0) throw new AggregateError(failures, `old records of ${failures.length} features could not be deleted`);
      },
      listeners: units.map((unit) => unit.agentListener()),
      measures: units.map((unit) => unit.measures()),
      addRoutes(scope) {
        for (const unit of units) unit.routes(scope, services);
      },
      async addOpenRoutes(app) {
        for (const { openRoutes } of units) {
          if (openRoutes) await app.register(async (scope) => openRoutes(scope as App, services));
        }
      },
      addInternalRoutes(scope) {
        for (const unit of units) unit.internalRoutes(scope, services);
      },
    };
  }
}

function unitOf<Needs, Brings, Api, Open, Internal>(
  feature: Feature<Needs, Brings, Api, Open, Internal>,
  own: Brings,
): Unit<Api & Open & Internal> {
  const { stop } = feature;
  return {
    start: async () => feature.start?.(own),
    stop: stop && (async () => stop(own)),
    sweep: async (signal) => feature.sweep?.(own, signal),
    agentListener: () => feature.agentListener?.(own) ?? {},
    measures: () => feature.measures?.(own) ?? {},
    routes: (scope, services) => feature.routes?.(scope, services),
    openRoutes: feature.openRoutes,
    internalRoutes: (scope, services) => feature.internalRoutes?.(scope, services),
  };
}
