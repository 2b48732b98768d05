const noError = {}

/** The context of a block with `using` or `await using` declarations, for Node versions without them. */
export function usingCtx() {
  return new Block()
}

class Block {
  /** @type {unknown} what the block has thrown */
  e = noError
  /** @type {(() => unknown)[]} */
  #disposals = []
  #awaits = false

  /** @param {any} resource of a `using` */
  u(resource) {
    return this.#use(resource, resource?.[Symbol.dispose])
  }

  /** @param {any} resource of an `await using` */
  a(resource) {
    this.#awaits = true
    return this.#use(resource, resource?.[Symbol.asyncDispose] ?? resource?.[Symbol.dispose])
  }

  /** Disposes all resources, the last one first. */
  d() {
    return this.#awaits ? this.#disposeInTurn() : this.#dispose()
  }

  /**
   * @param {unknown} resource
   * @param {unknown} dispose
   */
  #use(resource, dispose) {
    if (resource === null || resource === undefined) return resource
    if (typeof dispose !== 'function') throw new TypeError('A resource of `using` has no [Symbol.dispose]() method.')
    this.#disposals.unshift(() => dispose.call(resource))
    return resource
  }

  #dispose() {
    for (const dispose of this.#disposals) {
      try {
        dispose()
      } catch (error) {
        this.#fail(error)
      }
    }
    this.#end()
  }

  async #disposeInTurn() {
    for (const dispose of this.#disposals) {
      try {
        await dispose()
      } catch (error) {
        this.#fail(error)
      }
    }
    this.#end()
  }

  /** @param {unknown} error */
  #fail(error) {
    this.e = this.e === noError ? error : suppressing(error, this.e)
  }

  #end() {
    if (this.e !== noError) throw this.e
  }
}

/**
 * @param {unknown} error
 * @param {unknown} suppressed
 */
function suppressing(error, suppressed) {
  const message = 'An error was suppressed during disposal.'
  if (typeof SuppressedError === 'function') return new SuppressedError(error, suppressed, message)
  return Object.assign(new Error(message), { name: 'SuppressedError', error, suppressed })
}
