/** The part of a page that leads to the next one. */
export interface PageWithCursor<T> {
  readonly data: readonly T[]
  readonly meta: { readonly next_cursor: string | null }
}

/**
 * All records of a list by cursor. Each page is fetched after the previous one was read.
 *
 * @param fetchPage fetches the page after a cursor; without one, the first page.
 * @throws Error when a page leads to a page that was read before, as of a server, or a `fetchPage`, that ignores the cursor.
 * @example
 * const fetchPage = async (next_cursor?: string) =>
 *   (await fetch(`/heros?${new URLSearchParams(next_cursor ? { next_cursor } : {})}`)).json() as Promise<Page<Hero>>
 * for await (const hero of pages(fetchPage)) console.log(hero.name)
 */
export async function* pages<T>(
  fetchPage: (next_cursor?: string) => Promise<PageWithCursor<T>>,
): AsyncGenerator<T, void, undefined> {
  // A loop of any length meets one of these cursors again: it is that of page 1, 2, 4, 8 and so on. All cursors would take memory.
  let [kept, count, next] = ['', 0, 1]
  let page = await fetchPage()
  yield* page.data
  while (page.meta.next_cursor !== null) {
    const cursor = page.meta.next_cursor
    if (cursor === kept) throw new Error(REPEATED)
    if (++count === next) [kept, next] = [cursor, next * 2]
    page = await fetchPage(cursor)
    yield* page.data
  }
}

const REPEATED =
  'pages(): a page has the same next_cursor as a page before it, so that the list would have no end. Pass next_cursor to the server in fetchPage: ?next_cursor=<its value>.'
