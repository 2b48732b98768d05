import { type App, Controller, createApp, Post } from 'sequitur'

/*
 * Types of bodies in the smallest app that uses them.
 */

type Described = new () => object

/** An app whose handler returns the body of the request. `seen` collects the bodies that it receives; `response` is declared as its result. */
export function echo(type: Described, seen: unknown[] = [], response = type) {
  class Echo {
    echo(body: unknown) {
      seen.push(body)
      return body
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Echo.prototype, 'echo') as TypedPropertyDescriptor<never>
  Post('/', response, { params: [type] } as never)(Echo.prototype, 'echo', descriptor)
  Controller()(Echo)
  const app = createApp({ controllers: [Echo], logger: false })
  const send = (payload: string) =>
    app.inject({ method: 'POST', url: '/', headers: { 'content-type': 'application/json' }, payload })
  return { app, sendText: send, send: (json: unknown) => send(JSON.stringify(json)) }
}

/** The class `Sample` with one property `value`, declared by `field`. */
export function sample(field: PropertyDecorator) {
  class Sample {
    declare value: unknown
  }
  field(Sample.prototype, 'value')
  return Sample
}

/** The issues of a 422, each as `path message`. */
export function issuesOf(response: { json(): unknown }): string[] {
  const { errors = [] } = response.json() as { errors?: { path: string; message: string }[] }
  return errors.map(({ path, message }) => `${path} ${message}`)
}

/** The schemas of an app's OpenAPI document, as it is sent to clients. */
export function componentsOf(app: App): Readonly<Record<string, Component>> {
  const { components } = JSON.parse(JSON.stringify(app.openapi())) as { components: { schemas: never } }
  return components.schemas
}

interface Component {
  readonly properties: Readonly<Record<string, { readonly default?: unknown }>>
  readonly required?: readonly string[]
}
