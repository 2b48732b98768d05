/** Things that a program may throw, besides errors whose parts can be read. Each is made anew. */
export const oddThrows: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  'an empty text': () => '',
  'an object without a prototype': () => Object.create(null),
  'an error whose stack throws': () =>
    Object.defineProperty(new Error('no stack'), 'stack', {
      get() {
        throw new Error('not to be read')
      },
    }),
  'an error whose code throws': () =>
    Object.defineProperty(new Error('no code'), 'code', {
      get() {
        throw new Error('not to be read')
      },
    }),
  'a Proxy that was revoked': () => {
    const { proxy, revoke } = Proxy.revocable(new Error('gone'), {})
    revoke()
    return proxy
  },
  'the error of another stream that was closed too early': () =>
    Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' }),
}
