import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shellRoute } from '../../shell/root.tsx'

const parent = () => shellRoute

/** Routes of stored resources: volumes, templates, secrets and registries. */
export const resourceRoutes = [
  createRoute({
    getParentRoute: parent,
    path: '/console/volumes',
    component: lazyRouteComponent(() => import('./volumes.tsx'), 'VolumesPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/templates',
    component: lazyRouteComponent(() => import('./templates.tsx'), 'TemplatesPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/templates/$id',
    component: lazyRouteComponent(() => import('./template.tsx'), 'TemplatePage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/registries',
    component: lazyRouteComponent(() => import('./registries.tsx'), 'RegistriesPage'),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/console/secrets',
    component: lazyRouteComponent(() => import('./secrets.tsx'), 'SecretsPage'),
  }),
]
