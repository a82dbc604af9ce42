/** The file name of a page's picture, by its route. */
export function pictureOf(route: string): string {
  if (route === '/console') return 'home'
  return route
    .slice('/console/'.length)
    .replaceAll(/\/\$\w+/g, '-one')
    .replaceAll('/', '-')
}
