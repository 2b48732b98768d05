/** Wakes a loop that waits for its next turn. A ring while the loop is busy is kept. */
export class Bell {
  #isRinging = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#isRinging = true
    this.#wake?.()
  }

  /** Returns whether it has rung: what follows answers it. */
  answer(): boolean {
    const hasRung = this.#isRinging
    this.#isRinging = false
    return hasRung
  }

  /** Resolves when it rings, or after so many milliseconds. */
  async wait(milliseconds: number): Promise<void> {
    if (this.#isRinging) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = undefined
  }
}
