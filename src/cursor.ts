// Pages by cursor: the names are those of the offset pages, under a door of their own.
export {
  CursorPaginate as Paginate,
  type CursorPaginateType as PaginateType,
  newCursorPagination as newPagination,
  newCursorPagination as new_pagination,
} from './paging/cursor/cursor-paginate.js'
export { CursorPage as Page, type CursorPageMeta as PageMeta } from './paging/page.js'
export { typed, type Typing } from './paging/order-columns.js'
export { pages } from './paging/cursor/pages.js'
