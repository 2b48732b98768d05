import assert from 'node:assert/strict'

/** One page as a client sees it. */
export interface AnyPage {
  readonly data: readonly Record<string, unknown>[]
  readonly meta: { readonly next_cursor: string | null }
}

/** All records of a list, page after page; `between` runs between two pages. */
export async function walk(
  fetch: (path: string) => Promise<Response>,
  path: string,
  limit: number,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = `limit=${limit}${cursor && `&next_cursor=${cursor}`}`
    const response = await fetch(`${path}${path.includes('?') ? '&' : '?'}${query}`)
    const text = await response.text()
    assert.equal(response.status, 200, text)
    const { data, meta }: AnyPage = JSON.parse(text)
    assert.ok(data.length <= limit)
    assert.ok(meta.next_cursor === null || data.length === limit, 'only the last page may be short')
    assert.ok(meta.next_cursor === null || /^[\w-]{1,1535}$/.test(meta.next_cursor))
    records.push(...data)
    cursor = meta.next_cursor
    await between()
  }
  return records
}
