DROP INDEX `pods_team_created`;--> statement-breakpoint
CREATE INDEX `pods_team_names` ON `pods` (`team_id`,"name" COLLATE NOCASE,`id`,`status`,`created_at`,`cluster_id`) WHERE "pods"."status" <> 'TERMINATED';--> statement-breakpoint
CREATE INDEX `pods_team_created` ON `pods` (`team_id`,`created_at`,`id`,`status`,`name`,`cluster_id`) WHERE "pods"."status" <> 'TERMINATED';--> statement-breakpoint
CREATE INDEX `endpoints_team_names` ON `endpoints` (`team_id`,"name" COLLATE NOCASE,`id`);--> statement-breakpoint
CREATE INDEX `templates_team_names` ON `templates` (`team_id`,"name" COLLATE NOCASE,`id`);