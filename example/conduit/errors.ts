import { errorFormat, Field, HttpError, mapOf } from 'sequitur'

class ErrorBody {
  @Field({ type: mapOf([String]), description: 'The messages for each field' }) errors!: Record<string, string[]>
}

/** `{ errors: { title: ["can't be blank"] } }` */
export const format = errorFormat(ErrorBody, ({ title, detail = title, errors = [] }) => {
  const messages = new Map<string, string[]>()
  for (const { path, message } of errors) {
    const field = path.slice(path.lastIndexOf('/') + 1) || 'body'
    messages.set(field, [...(messages.get(field) ?? []), message])
  }
  return { errors: messages.size > 0 ? Object.fromEntries(messages) : { body: [detail] } }
})

/** Refuses a request: `refuse(404, 'article', 'not found')`. */
export function refuse(status: number, field: string, message: string): never {
  throw new HttpError(status, message, { errors: [{ in: 'body', path: `/${field}`, message }] })
}
