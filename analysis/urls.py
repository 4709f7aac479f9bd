"""Addresses of the analysis pages."""

from django.urls import path

from analysis import campaign_views, views

app_name = "analysis"
urlpatterns = [
    path("", views.ratings, name="ratings"),
    path("new/", views.upload, name="upload"),
    path("ratings/<uuid:ratings_file_id>/", views.ratings_file, name="ratings_file"),
    path("ratings/<uuid:ratings_file_id>/columns/", views.columns, name="columns"),
    path("ratings/<uuid:ratings_file_id>/protocol/", views.protocol, name="protocol"),
    path("runs/<uuid:run_id>/", views.run, name="run"),
    path("runs/<uuid:run_id>/significance/", views.significance, name="significance"),
    path("runs/<uuid:run_id>/workers/", views.workers, name="workers"),
    path("runs/<uuid:run_id>/chats/", views.chats, name="chats"),
    path("runs/<uuid:run_id>/downloads/", views.downloads, name="downloads"),
    path("runs/<uuid:run_id>/workers.csv", views.workers_csv, name="workers_csv"),
    path("runs/<uuid:run_id>/files/<path:name>", views.run_file, name="run_file"),
    path("campaigns/<uuid:public_id>/", campaign_views.results, name="campaign_results"),
    path("campaigns/<uuid:public_id>/workers/", campaign_views.workers, name="campaign_workers"),
    path("campaigns/<uuid:public_id>/jobs/<uuid:job_id>/", campaign_views.job, name="campaign_job"),
]
