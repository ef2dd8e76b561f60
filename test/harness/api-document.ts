import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormatsModule from 'ajv-formats';
import { operationsOf } from '../../server/platform/http/openapi-types.ts';
import type { ApiResponse, OpenApiDocument, Operation, Parameter } from '../../server/platform/http/openapi-types.ts';

// A CommonJS module whose types describe its other form.
const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;

/** The `/openapi.json` of a running server, with checks of its promises. */
export class ApiDescription {
  readonly document: OpenApiDocument;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(document: OpenApiDocument) {
    this.document = document;
    addFormats(this.#ajv);
    this.#ajv.addSchema(document, 'api');
  }

  static async of(url: string): Promise<ApiDescription> {
    const answer = await fetch(`${url}/openapi.json`);
    return new ApiDescription((await answer.json()) as OpenApiDocument);
  }

  get operations(): { path: string; method: string; operation: Operation }[] {
    return operationsOf(this.document);
  }

  find(method: string, path: string): Operation | undefined {
    return this.document.paths[path]?.[method.toLowerCase()];
  }

  parametersOf(operation: Operation): Parameter[] {
    return (operation.parameters ?? []).map((parameter) => {
      const name = parameter.$ref?.split('/').at(-1);
      return name === undefined ? parameter : this.document.components.parameters![name]!;
    });
  }

  /** How a value violates the schema at a path of the document (`['paths', '/api/routers', …]`). */
  mistakesAt(place: readonly string[], value: unknown): string[] {
    const pointer = place.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    let validate = this.#validators.get(pointer);
    if (!validate) {
      validate = this.#ajv.compile({ $ref: `api#/${pointer}` });
      this.#validators.set(pointer, validate);
    }
    return validate(value)
      ? []
      : validate.errors!.map((error) => `${error.instancePath || '/'} ${error.message} ${JSON.stringify(error.params)}`);
  }

  /** What an answer breaks of what the document promises for its operation; empty when it keeps every promise. */
  mistakesOf(path: string, method: string, answer: { status: number; type: string | null; text: string }): string[] {
    const responses = this.find(method, path)!.responses;
    const status = String(answer.status) in responses ? String(answer.status) : 'default';
    const response = responses[status];
    if (!response) return [`status ${answer.status} is not documented`];
    if (response.content === undefined) return answer.text === '' ? [] : [`status ${status} has a body, but none is documented`];
    const type = (answer.type ?? '').split(';')[0]!;
    if (!(type in response.content)) return [`${status} is ${type}, documented is ${Object.keys(response.content).join(', ')}`];
    if (!type.endsWith('json')) return [];
    const place = ['paths', path, method.toLowerCase(), 'responses', status, 'content', type, 'schema'];
    return this.mistakesAt(place, JSON.parse(answer.text));
  }
}

export function isSuccess([status]: [string, ApiResponse]): boolean {
  return /^2\d\d$/.test(status);
}
