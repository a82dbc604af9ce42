ALTER TABLE `pods` ADD `labels` text DEFAULT '{}' NOT NULL;--> statement-breakpoint
CREATE INDEX `pods_team_labels` ON `pods` (`team_id`,`created_at`,`id`,`labels`) WHERE "pods"."labels" <> '{}';