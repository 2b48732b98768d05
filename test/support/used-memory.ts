import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export const MEBIBYTE = 2 ** 20

/** Bytes of the heap, after a collection. */
export function usedMemory(): number {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
  return process.memoryUsage().heapUsed
}
