/** What the picture of a page is called, by its route. */
export function pictureOf(route: string): string {
  if (route === '/console') return 'home'
  return route
    .slice('/console/'.length)
    .replaceAll(/\/\$\w+/g, '-one')
    .replaceAll('/', '-')
}
