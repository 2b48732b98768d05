import { type App, Controller, createApp, Post } from 'sequitur'

type Described = new () => object

/** An app that answers with the body it was sent, through the class both ways unless another is to answer; `seen` keeps what its handler was given. */
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

/** What a 422 says, as `path message`. */
export function issuesOf(response: { json(): unknown }): string[] {
  const { errors = [] } = response.json() as { errors?: { path: string; message: string }[] }
  return errors.map(({ path, message }) => `${path} ${message}`)
}

/** The schema components of an app's document, as they are sent. */
export function componentsOf(app: App): Readonly<Record<string, Component>> {
  const { components } = JSON.parse(JSON.stringify(app.openapi())) as { components: { schemas: never } }
  return components.schemas
}

interface Component {
  readonly properties: Readonly<Record<string, { readonly default?: unknown }>>
  readonly required?: readonly string[]
}
