/** Headers for the reply of this request, beside those that its result has; asked for by what adds to a reply, such as a paginator. */
export class ReplyHeaders {
  readonly values: Record<string, string> = {}

  set(name: string, value: string): void {
    this.values[name] = value
  }
}
