import assert from 'node:assert/strict'

/*
 * Reading a list through all its pages.
 */

/** A page as clients receive it. */
export interface AnyPage {
  readonly data: readonly Record<string, unknown>[]
  readonly meta: { readonly next_cursor: string | null }
}

/** Reads all records of a list by its cursors. `between` runs after each page. */
export async function walk(
  fetch: (path: string) => Promise<Response>,
  path: string,
  limit: number,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<Record<string, unknown>[]> {
  const records: Record<string, unknown>[] = []
  const seen = new Set<string>()
  let cursor: string | null = ''
  while (cursor !== null) {
    assert.ok(!seen.has(cursor), 'a page leads back to a page before it')
    seen.add(cursor)
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
