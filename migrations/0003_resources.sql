CREATE TABLE `global_volumes` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `global_volumes_team_name` ON `global_volumes` (`team_id`,`name`);--> statement-breakpoint
CREATE TABLE `network_volumes` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`size_gb` integer NOT NULL,
	`data_center_id` text NOT NULL,
	`type` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `network_volumes_team_created` ON `network_volumes` (`team_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `registries` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`username_sealed` text NOT NULL,
	`password_sealed` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `registries_team_created` ON `registries` (`team_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `ssh_keys` (
	`team_id` text PRIMARY KEY NOT NULL,
	`keys` text NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `templates` (
	`id` text PRIMARY KEY NOT NULL,
	`team_id` text NOT NULL,
	`name` text NOT NULL,
	`is_public` integer NOT NULL,
	`config` text NOT NULL,
	`registry_id` text,
	`revision` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`team_id`) REFERENCES `teams`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`registry_id`) REFERENCES `registries`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `templates_team_name` ON `templates` (`team_id`,`name`);--> statement-breakpoint
CREATE INDEX `templates_team_created` ON `templates` (`team_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `templates_registry` ON `templates` (`registry_id`);--> statement-breakpoint
CREATE INDEX `hosts_data_center` ON `hosts` (`data_center_id`);