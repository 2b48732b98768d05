// Pages by cursor, under the same names as pages by offset, and under names of their own, so that an automatic import cannot choose the wrong ones.
export {
  CursorPaginate,
  CursorPaginate as Paginate,
  type CursorPaginateType,
  type CursorPaginateType as PaginateType,
  newCursorPagination,
  newCursorPagination as newPagination,
  newCursorPagination as new_pagination,
} from './paging/cursor/cursor-paginate.js'
export {
  CursorPage,
  CursorPage as Page,
  type CursorPageMeta,
  type CursorPageMeta as PageMeta,
  TwoWayPage,
  type TwoWayPageMeta,
} from './paging/page.js'
export { typed, type Typing } from './paging/order-columns.js'
export { pages } from './paging/cursor/pages.js'
