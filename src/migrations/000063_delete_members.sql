-- A member can be deleted: the name and address of a person who has gone have no reason to stay.
GRANT DELETE ON archivist.member TO vcon_archivist_service;
